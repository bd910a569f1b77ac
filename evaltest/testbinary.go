package evaltest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// uncached keeps the result of this test process out of cmd/go's cache: a passed eval that is not run again would be
// missing from the run. There is no call for it. cmd/go has the test binary log what it reads, under -test.testlogfile,
// exactly when it means to cache the result; without that file it saves nothing, and says nothing.
var uncached = sync.OnceFunc(func() {
	if f := flag.Lookup("test.testlogfile"); f != nil && f.Value.String() != "" {
		_ = os.Remove(f.Value.String())
	}
})

// packageOf is the import path of the package under test, skip frames above this function's at the latest.
func packageOf(skip int) string {
	if bi, ok := debug.ReadBuildInfo(); ok {
		if path, ok := strings.CutSuffix(bi.Path, ".test"); ok {
			return path
		}
	}
	pc, _, _, ok := runtime.Caller(skip)
	if !ok {
		return ""
	}
	name := runtime.FuncForPC(pc).Name() // example.com/a/b.TestX.func1
	dir, last := name[:strings.LastIndex(name, "/")+1], name[strings.LastIndex(name, "/")+1:]
	last, _, _ = strings.Cut(last, ".")
	return strings.TrimSuffix(dir+last, "_test")
}
