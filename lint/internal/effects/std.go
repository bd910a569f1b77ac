package effects

import (
	"go/types"
	"strings"
)

// An effect is what a function of the standard library does besides computing its results.
type effect struct {
	kind   Kind  // of what makes it impure; None: nothing does
	writes []int // the parameters that it writes through, the receiver first
}

var (
	pure   = &effect{}
	writes = func(params ...int) *effect { return &effect{writes: params} }
)

// standard is what is known of a function of the standard library; nil: nothing.
func standard(fn *types.Func) *effect {
	if fn.Pkg() == nil {
		return pure // error.Error
	}
	path, name, recv := fn.Pkg().Path(), fn.Name(), ""
	if r := fn.Signature().Recv(); r != nil {
		recv = typeName(r.Type())
	}
	key := name
	if recv != "" {
		key = recv + "." + name
	}
	if e := stdFuncs[path+"."+key]; e != nil {
		return e
	}
	if e := stdWriters(path, recv, name, fn); e != nil {
		return e
	}
	return stdPackages[path]
}

func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// stdPackages is what holds for a package where nothing is said of the function. A package that is not here is not known.
var stdPackages = func() map[string]*effect {
	m := map[string]*effect{}
	for kind, paths := range map[Kind]string{
		None: "bytes cmp container/heap container/list container/ring embed encoding encoding/ascii85 encoding/base32 encoding/base64 encoding/binary " +
			"encoding/csv encoding/hex encoding/json encoding/xml encoding/pem errors fmt hash hash/adler32 hash/crc32 hash/crc64 hash/fnv html iter maps " +
			"crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512 crypto/hmac crypto/subtle " +
			"math math/big math/bits math/cmplx mime net/netip net/url path path/filepath reflect regexp regexp/syntax slices sort strconv strings " +
			"text/scanner time unicode unicode/utf16 unicode/utf8 unique go/token go/constant text/template/parse sync context",
		Random:  "math/rand math/rand/v2 crypto/rand",
		Files:   "os io/ioutil",
		Process: "os/exec os/signal syscall",
		Network: "net net/rpc net/smtp net/textproto database/sql",
		Output:  "log log/slog log/syslog",
	} {
		for _, path := range strings.Fields(paths) {
			m[path] = &effect{kind: kind}
		}
	}
	return m
}()

// stdFuncs is what holds for a function, or for a method by Type.Name.
var stdFuncs = func() map[string]*effect {
	m := map[string]*effect{}
	add := func(e *effect, pkg, funcs string) {
		for _, fn := range strings.Fields(funcs) {
			m[pkg+"."+fn] = e
		}
	}
	is := func(kind Kind) *effect { return &effect{kind: kind} }
	add(is(Clock), "time", "Now Since Until After AfterFunc NewTimer NewTicker Tick Sleep Timer.Reset Timer.Stop Ticker.Reset Ticker.Stop")
	add(is(Clock), "context", "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause AfterFunc")
	add(is(Files), "time", "LoadLocation")
	add(pure, "os", "IsExist IsNotExist IsPermission IsTimeout IsPathSeparator PathError.Error PathError.Unwrap FileMode.IsDir FileMode.IsRegular FileMode.Perm "+
		"FileMode.String FileMode.Type Expand NewSyscallError")
	add(is(Environment), "os", "Getenv LookupEnv Environ ExpandEnv Setenv Unsetenv Clearenv Hostname Getwd UserHomeDir UserCacheDir UserConfigDir TempDir "+
		"Executable Getuid Geteuid Getgid Getegid Getgroups Getpid Getppid Getpagesize")
	add(is(Process), "os", "Exit FindProcess StartProcess Process.Kill Process.Signal Process.Wait Process.Release")
	add(is(Output), "fmt", "Print Printf Println")
	add(is(Files), "fmt", "Scan Scanf Scanln")
	add(writes(0), "fmt", "Fprint Fprintf Fprintln Fscan Fscanf Fscanln")
	add(is(Files), "path/filepath", "Abs EvalSymlinks Glob Walk WalkDir")
	add(is(Files), "io/fs", "ReadFile ReadDir Stat Lstat ReadLink WalkDir Glob FS.Open StatFS.Stat ReadFileFS.ReadFile ReadDirFS.ReadDir GlobFS.Glob")
	add(is(Network), "net/http", "Get Head Post PostForm ListenAndServe ListenAndServeTLS Serve ServeTLS Client.Do Client.Get Client.Head Client.Post "+
		"Client.PostForm Transport.RoundTrip RoundTripper.RoundTrip")
	add(pure, "net", "ParseIP ParseCIDR ParseMAC SplitHostPort JoinHostPort IPv4 IPv4Mask CIDRMask IP.Equal IP.String IP.To4 IP.To16 IP.IsLoopback "+
		"IP.IsPrivate IP.Mask IPNet.Contains IPNet.String IPMask.Size IPMask.String")
	for _, pkg := range []string{"math/rand", "math/rand/v2"} {
		add(pure, pkg, "New NewSource NewZipf NewPCG NewChaCha8") // what they make has a state, and begins where it is told to
	}
	add(is(Process), "runtime", "GC Gosched NumGoroutine Stack ReadMemStats Caller Callers SetFinalizer")
	add(pure, "os/exec", "Command CommandContext Cmd.String")
	add(pure, "log", "New Default")
	add(pure, "log/slog", "String Int Int64 Uint64 Float64 Bool Time Duration Group Any Default New NewTextHandler NewJSONHandler")
	add(writes(0), "sort", "Sort Stable Slice SliceStable Strings Ints Float64s")
	add(writes(0), "slices", "Sort SortFunc SortStableFunc Reverse Delete DeleteFunc Compact CompactFunc Replace Insert")
	add(writes(0), "maps", "Copy DeleteFunc Insert")
	add(writes(0), "container/heap", "Init Push Pop Remove Fix")
	add(writes(1), "encoding/json", "Unmarshal")
	add(writes(1), "encoding/xml", "Unmarshal")
	add(writes(1), "errors", "As")
	add(writes(0), "io", "Copy CopyN CopyBuffer WriteString Writer.Write StringWriter.WriteString")
	add(writes(0), "regexp", "Regexp.Longest")
	add(pure, "sync", "OnceFunc OnceValue OnceValues Pool.Get Pool.Put")
	return m
}()

// stdWriters is what holds for the methods of types that have a state.
func stdWriters(path, recv, name string, fn *types.Func) *effect {
	begins := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	switch path + "." + recv {
	case "sync/atomic.":
		return writes(0)
	case "strings.Builder":
		if begins("Write", "Reset", "Grow") {
			return writes(0)
		}
	case "bytes.Buffer":
		if begins("Write", "Read", "Reset", "Grow", "Truncate", "Next", "Unread") {
			return writes(0)
		}
	case "strings.Reader", "bytes.Reader":
		if begins("Read", "Seek", "Reset", "Unread", "WriteTo") {
			return writes(0)
		}
	case "math/big.Int", "math/big.Rat", "math/big.Float":
		// z.Add(x, y) sets z, and returns it.
		if r := fn.Signature().Results(); r.Len() > 0 && typeName(r.At(0).Type()) == recv && begins("Set", "Add", "Sub", "Mul", "Quo", "Div", "Rem", "Mod", "Neg", "Abs",
			"Inv", "And", "Or", "Xor", "Not", "Lsh", "Rsh", "Exp", "GCD", "Sqrt", "Binomial", "Rand", "Copy", "Parse", "Scan") {
			return writes(0)
		}
	case "container/list.List":
		if begins("Push", "Insert", "Remove", "Move", "Init") {
			return writes(0)
		}
	case "sync.Pool", "sync.":
		return nil
	}
	switch path {
	case "sync/atomic", "sync":
		return writes(0)
	case "bufio":
		if recv != "" {
			return writes(0)
		}
	case "encoding/json", "encoding/xml", "encoding/csv", "encoding/gob":
		if begins("Decode", "Encode", "Token", "Read", "Write", "Skip", "Flush", "More", "UseNumber", "DisallowUnknownFields", "SetIndent", "SetEscapeHTML") && recv != "" {
			return writes(0)
		}
	case "math/rand", "math/rand/v2":
		if recv != "" {
			return writes(0) // it moves on
		}
	}
	return nil
}
