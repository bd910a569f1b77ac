//go:build unix

package proc

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A spec goes from the owner to the supervisor over the control pipe: an argument or variable of a command line is limited
// to 128 KiB on Linux, and the strings need not be UTF-8.
type spec struct {
	Path   string
	Args   []string // with the program's name
	Dir    string
	Env    []string
	Marker string
}

// maxSpec bounds what the supervisor reads: far above what any system accepts for a program's start.
const maxSpec = 64 << 20

func (s spec) encode() []byte {
	var b []byte
	str := func(v string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	list := func(v []string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		for _, e := range v {
			str(e)
		}
	}
	str(s.Path)
	list(s.Args)
	str(s.Dir)
	list(s.Env)
	str(s.Marker)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// readSpec reads exactly one spec from r.
func readSpec(r io.Reader) (s spec, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return s, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxSpec {
		return s, fmt.Errorf("a command of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return s, err
	}
	num := func() int {
		if len(b) < 4 {
			err, b = io.ErrUnexpectedEOF, nil
			return 0
		}
		v := binary.BigEndian.Uint32(b)
		b = b[4:]
		if int64(v) > int64(len(b)) {
			err, b = io.ErrUnexpectedEOF, nil
			return 0
		}
		return int(v)
	}
	str := func() string {
		n := num()
		v := string(b[:n])
		b = b[n:]
		return v
	}
	list := func() []string {
		v := make([]string, num())
		for i := range v {
			v[i] = str()
		}
		return v
	}
	s.Path = str()
	s.Args = list()
	s.Dir = str()
	s.Env = list()
	s.Marker = str()
	return s, err
}
