package graderr

import (
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// at is the place of an argument, the receiver being the first.
func at(i int) *int { return &i }

// reads is the functions that read files, and which argument says what.
var reads = map[string]*int{
	"os.ReadFile": at(0), "os.Open": at(0), "os.Stat": at(0), "os.Lstat": at(0), "os.ReadDir": at(0), "os.Readlink": at(0), "os.OpenRoot": at(0),
	"os.OpenInRoot":   at(0),
	"(*os.Root).Open": at(0), "(*os.Root).ReadFile": at(0), "(*os.Root).Stat": at(0), "(*os.Root).Lstat": at(0), "(*os.Root).Readlink": at(0),
	"(*os.Root).OpenRoot": at(0), "(*os.File).ReadDir": at(0), "(*os.File).Readdir": at(0), "(*os.File).Readdirnames": at(0), "(*os.File).Stat": at(0),
	"io/fs.ReadFile": at(0), "io/fs.ReadDir": at(0), "io/fs.Stat": at(0),
	"io/ioutil.ReadFile": at(0), "io/ioutil.ReadDir": at(0), "path/filepath.EvalSymlinks": at(0),
}

// makes is the functions that make what a criterion needs for itself.
var makes = set("os.MkdirTemp os.CreateTemp os.WriteFile os.Create os.Mkdir os.MkdirAll os.Getwd os.UserHomeDir os.UserCacheDir os.Executable " +
	"os.Pipe io/ioutil.TempDir io/ioutil.TempFile io/ioutil.WriteFile net.Listen (*net.ListenConfig).Listen " +
	"(*os/exec.Cmd).StdinPipe (*os/exec.Cmd).StdoutPipe (*os/exec.Cmd).StderrPipe")

// requests is the functions that ask other machines, and which argument says whom.
var requests = map[string]*int{
	"net/http.Get": at(0), "net/http.Head": at(0), "net/http.Post": at(0), "net/http.PostForm": at(0),
	"(*net/http.Client).Get": at(1), "(*net/http.Client).Head": at(1), "(*net/http.Client).Post": at(1), "(*net/http.Client).PostForm": at(1),
	"(*net/http.Client).Do": at(1), "(*net/http.Transport).RoundTrip": at(1),
	"net.Dial": at(1), "net.DialTimeout": at(1), "(*net.Dialer).Dial": at(2), "(*net.Dialer).DialContext": at(3),
}

// runs is the functions that run a program.
var runs = set("(*os/exec.Cmd).Run (*os/exec.Cmd).Output (*os/exec.Cmd).CombinedOutput (*os/exec.Cmd).Wait")

// parses is the functions that fail on what they are given, and which argument that is.
var parses = map[string]*int{
	"encoding/json.Unmarshal": at(0), "(*encoding/json.Decoder).Decode": at(0), "encoding/xml.Unmarshal": at(0), "(*encoding/xml.Decoder).Decode": at(0),
	"(*encoding/csv.Reader).ReadAll": at(0), "strconv.Atoi": at(0), "strconv.ParseInt": at(0), "strconv.ParseUint": at(0), "strconv.ParseFloat": at(0),
	"strconv.ParseBool": at(0), "strconv.Unquote": at(0), "regexp.Compile": at(0), "regexp.CompilePOSIX": at(0), "net/url.Parse": at(0), "time.Parse": at(1),
	"time.ParseDuration": at(0), "(*text/template.Template).Parse": at(1), "(*html/template.Template).Parse": at(1),
	"(*encoding/base64.Encoding).DecodeString": at(1), "encoding/hex.DecodeString": at(0), "go/parser.ParseFile": at(2), "go/format.Source": at(0),
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// standard is whose the error of a function of the standard library is, as it is called here.
func (a *analyzer) standard(call *ssa.Call, full string) (kind, bool) {
	args := call.Call.Args
	if call.Call.IsInvoke() {
		switch full {
		case "(io/fs.FS).Open", "(io/fs.ReadFileFS).ReadFile", "(io/fs.StatFS).Stat", "(io/fs.ReadDirFS).ReadDir":
			return a.reading(call.Call.Value)
		}
		return unknown, false
	}
	switch {
	case reads[full] != nil:
		return a.reading(args[*reads[full]])
	case makes[full]:
		return never, true
	case requests[full] != nil:
		return a.asking(call, args[*requests[full]])
	case runs[full]:
		if installed(args[0]) {
			return exits, true
		}
	case full == "(*os/exec.Cmd).Start":
		if installed(args[0]) {
			return never, true
		}
	case full == "os/exec.LookPath":
		if text, ok := constantText(args[0]); ok && !strings.ContainsAny(text, `/\`) {
			return never, true
		}
	case parses[full] != nil:
		return a.parsing(args[*parses[full]])
	case full == "io.ReadAll" || full == "io/ioutil.ReadAll":
		if a.origin(args[0])&byOther != 0 && !a.local(call.Parent()) {
			return never, true
		}
	}
	return unknown, false
}

// reading is whose an error of reading is: the agent's, if the file is its and missing.
func (a *analyzer) reading(path ssa.Value) (kind, bool) {
	if workspace(path) {
		return never, true
	}
	switch o := a.origin(path); {
	case o&bySomeone != 0:
		return missing, false
	case o&byAgent != 0:
		return missing, true
	}
	return never, true
}

// workspace reports whether a path is that of the workspace itself.
func workspace(path ssa.Value) bool {
	load, ok := path.(*ssa.UnOp)
	if !ok {
		return false
	}
	field, ok := load.X.(*ssa.FieldAddr)
	if !ok || !names.IsPointer(field.X.Type(), names.Evaltest, "Trial") {
		return false
	}
	s, ok := field.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	return ok && s.Field(field.Field).Name() == "Dir"
}

// parsing is whose an error of parsing is: that of who wrote the text.
func (a *analyzer) parsing(text ssa.Value) (kind, bool) {
	o := a.origin(text)
	if o&(bySomeone|byAgent) != 0 || o&byOther != 0 && a.local(text.Parent()) {
		return unknown, false
	}
	return never, true
}

// asking is whose an error of a request is: nobody can tell where it goes to what the agent made.
func (a *analyzer) asking(call *ssa.Call, whom ssa.Value) (kind, bool) {
	if url := requestTo(whom); url != nil {
		whom = url
	}
	_, url := whom.Type().Underlying().(*types.Basic)
	o := a.origin(whom)
	if url && o&byAgent != 0 || a.local(call.Parent()) {
		return unknown, false
	}
	return never, url && o&bySomeone == 0
}

// requestTo is the URL that a request was made for; nil: it is not seen.
func requestTo(v ssa.Value) ssa.Value {
	x, ok := v.(*ssa.Extract)
	if !ok {
		return nil
	}
	call, ok := x.Tuple.(*ssa.Call)
	if !ok {
		return nil
	}
	if obj := program.Callee(&call.Call); obj != nil {
		switch names.Full(obj) {
		case "net/http.NewRequest":
			return call.Call.Args[1]
		case "net/http.NewRequestWithContext":
			return call.Call.Args[2]
		}
	}
	return nil
}

// local reports whether a function may ask a program that it, or the agent, has made: it starts one, or names this machine.
func (a *analyzer) local(fn *ssa.Function) bool {
	if fn == nil {
		return true
	}
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return a.localIn(fn)
}

func (a *analyzer) localIn(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				if obj := program.Callee(call.Common()); obj != nil {
					switch full := names.Full(obj); {
					case full == "(*os/exec.Cmd).Start", strings.HasPrefix(full, "net/http/httptest."), full == "net.Listen":
						return true
					}
				}
			}
			for _, op := range instr.Operands(nil) {
				if text, ok := constantText(*op); ok && thisMachine(text) {
					return true
				}
			}
		}
	}
	for _, inner := range fn.AnonFuncs {
		if a.localIn(inner) {
			return true
		}
	}
	return false
}

func thisMachine(text string) bool {
	for _, name := range []string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "::1", "unix"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

func constantText(v ssa.Value) (string, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Value), true
}

// installed reports whether a command runs a program of this machine, by a name that is looked up in PATH.
func installed(cmd ssa.Value) bool {
	call, ok := resolve(cmd).(*ssa.Call)
	if !ok {
		return false
	}
	obj := program.Callee(&call.Call)
	if obj == nil {
		return false
	}
	i := 0
	switch names.Full(obj) {
	case "os/exec.Command":
	case "os/exec.CommandContext":
		i = 1
	default:
		return false
	}
	text, ok := constantText(call.Call.Args[i])
	return ok && text != "" && !strings.ContainsAny(text, `/\`)
}
