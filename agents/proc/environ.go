package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// allowed are the variables that go from our environment into a hermetic one; PREFIX* stands for every name that begins so.
// Each must be needed to build or run code, and must not carry the developer's settings for an agent, nor, by its nature, a
// secret. Proxies are left out: they often hold a password, and lead requests for a loopback gateway astray.
var allowed = []string{
	"PATH", "USER", "LOGNAME",
	"LANG", "LANGUAGE", "LC_*", "TZ", "TZDIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	"GOCACHE", "GOMODCACHE", "GOROOT",
	"npm_config_cache", "npm_config_registry", "npm_config_cafile", "npm_config_offline", "npm_config_prefer_offline",
	"PIP_CACHE_DIR", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_NO_INDEX", "PIP_FIND_LINKS",
	"UV_CACHE_DIR", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_OFFLINE",
	"RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "ASDF_DATA_DIR", "VOLTA_HOME",
}

// goSettings decide how the go command finds modules and toolchains. They are taken from our environment or, failing that,
// from where `go env -w` puts them: a folder below the developer's HOME, which the agent does not see.
var goSettings = []string{
	"GOPROXY", "GOFLAGS", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE", "GOVCS", "GOTOOLCHAIN",
}

// allowedWindows: without these, Windows programs do not start.
var allowedWindows = []string{
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432", "ProgramData",
	"CommonProgramFiles", "CommonProgramFiles(x86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS", "USERNAME",
}

// Environ is a hermetic environment for a command: what programs need in order to run and to build, and nothing of the developer's
// own. It holds, each name once and sorted:
//
//   - from our environment, those of an allow-list: PATH, USER, LOGNAME, the locale, the time zone, certificate bundles, the
//     settings and caches of build tools (Go, npm, pip, uv; the homes of rustup, pyenv, rbenv, asdf, volta);
//   - HOME and TMPDIR (their like on Windows): the folders home and tmp, which the caller makes; "" leaves a name out. XDG_* are unset,
//     and so lie below home;
//   - caches whose place depends on HOME, set to where they are for the developer: with an empty build cache an agent's
//     own `go test` takes half a minute;
//   - TERM=dumb;
//   - from our environment, the names in pass, where NAME* stands for every name that begins so;
//   - the KEY=VALUE in set, which win over everything.
//
// Proxy variables are not among them: pass "HTTPS_PROXY" and "NO_PROXY" where an agent needs a proxy.
func Environ(home, tmp string, pass []string, set ...string) []string {
	e := environment{}
	take := slices.Concat(allowed, pass)
	if runtime.GOOS == "windows" {
		take = append(take, allowedWindows...)
	}
	defaults := goEnvFile()
	for _, name := range goSettings {
		if v, ok := defaults[name]; ok {
			e.set(name, v)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if v, ok := defaults[name]; ok {
			e.set(name, v)
		}
	}
	take = append(take, goSettings...)
	ours := os.Environ()
	for _, kv := range ours {
		if name, value, ok := cutVariable(kv); ok && slices.ContainsFunc(take, func(p string) bool { return namePattern(p, name) }) {
			e.set(name, value)
		}
	}
	for name, dir := range homeCaches(defaults) {
		if _, ok := e.get(name); !ok {
			e.set(name, dir)
		}
	}
	if _, ok := e.get("PATH"); !ok && runtime.GOOS != "windows" {
		e.set("PATH", "/usr/local/bin:/usr/bin:/bin")
	}
	e.set("TERM", "dumb")
	for name, dir := range homeVariables(home, tmp) {
		e.set(name, dir)
	}
	for _, kv := range set {
		if name, value, ok := cutVariable(kv); ok {
			e.set(name, value)
		}
	}
	return e.list()
}

// homeVariables are the names by which programs find home and tmp.
func homeVariables(home, tmp string) map[string]string {
	vars := map[string]string{}
	if runtime.GOOS == "windows" {
		if home != "" {
			vars["HOME"], vars["USERPROFILE"] = home, home
			vars["APPDATA"] = filepath.Join(home, "AppData", "Roaming")
			vars["LOCALAPPDATA"] = filepath.Join(home, "AppData", "Local")
		}
		if tmp != "" {
			vars["TEMP"], vars["TMP"], vars["TMPDIR"] = tmp, tmp, tmp
		}
		return vars
	}
	if home != "" {
		vars["HOME"] = home
	}
	if tmp != "" {
		vars["TMPDIR"] = tmp
	}
	return vars
}

// homeCaches says where the developer's caches are when no variable does. goEnv is what `go env -w` has set.
func homeCaches(goEnv map[string]string) map[string]string {
	dirs := map[string]string{}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return dirs
	}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs["GOCACHE"] = filepath.Join(cache, "go-build")
		if runtime.GOOS == "windows" {
			dirs["npm_config_cache"] = filepath.Join(cache, "npm-cache")
			dirs["PIP_CACHE_DIR"] = filepath.Join(cache, "pip", "Cache")
			dirs["UV_CACHE_DIR"] = filepath.Join(cache, "uv", "cache")
		} else {
			dirs["PIP_CACHE_DIR"] = filepath.Join(cache, "pip")
		}
	}
	gopath := os.Getenv("GOPATH")
	if gopath == "" {
		gopath = goEnv["GOPATH"]
	}
	if list := filepath.SplitList(gopath); len(list) > 0 && list[0] != "" {
		dirs["GOMODCACHE"] = filepath.Join(list[0], "pkg", "mod")
	} else {
		dirs["GOMODCACHE"] = filepath.Join(home, "go", "pkg", "mod")
	}
	if runtime.GOOS != "windows" {
		dirs["npm_config_cache"] = filepath.Join(home, ".npm")
		xdg := os.Getenv("XDG_CACHE_HOME") // uv asks for it on macOS too
		if xdg == "" {
			xdg = filepath.Join(home, ".cache")
		}
		dirs["UV_CACHE_DIR"] = filepath.Join(xdg, "uv")
	}
	// Where programs themselves are: a shim on PATH finds them only by these.
	for name, dir := range map[string]string{
		"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "RBENV_ROOT": ".rbenv", "ASDF_DATA_DIR": ".asdf", "VOLTA_HOME": ".volta",
	} {
		dir = filepath.Join(home, dir)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs[name] = dir
		}
	}
	return dirs
}

// goEnvFile reads what `go env -w` has written.
func goEnvFile() map[string]string {
	vars := map[string]string{}
	file := os.Getenv("GOENV")
	if file == "off" {
		return vars
	}
	if file == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return vars
		}
		file = filepath.Join(dir, "go", "env")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return vars
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") && value != "" {
			vars[name] = value
		}
	}
	return vars
}

// environment maps the name as compared to the variable as written.
type environment map[string]string

func (e environment) set(name, value string)              { e[foldKey(name)] = name + "=" + value }
func (e environment) get(name string) (v string, ok bool) { v, ok = e[foldKey(name)]; return }

func (e environment) list() []string {
	out := make([]string, 0, len(e))
	for _, kv := range e {
		out = append(out, kv)
	}
	slices.Sort(out)
	return out
}

// cutVariable splits KEY=VALUE. The hidden variables of Windows begin with "=".
func cutVariable(kv string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(kv, "=")
	return name, value, ok && name != ""
}

func namePattern(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(foldKey(name), foldKey(prefix))
	}
	return sameKey(pattern, name)
}

// foldKey: on Windows the case of a variable's name does not matter.
func foldKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func sameKey(a, b string) bool { return foldKey(a) == foldKey(b) }
