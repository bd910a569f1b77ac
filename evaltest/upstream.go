package evaltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// route is how an agent's requests reach its model.
type route struct {
	name     string           // as records name it: "script", the provider's host, "direct: why", "" for an agent without a model
	provider *agents.Provider // where a gateway forwards to; nil: there is none, or it plays a script
	err      error            // why there is no way; found before anything is spent
}

// chooseRoute decides how the agent reaches its model, and keeps the provider's key out of every record.
func (e *T) chooseRoute() {
	e.Helper()
	switch {
	case e.scripted:
		e.route = route{name: "script"}
	case !e.info.Live && e.info.Wire == "":
	case e.noGateway:
		e.route = route{name: "direct: the eval runs without a gateway"}
	case e.info.Wire == "":
		e.route = route{name: "direct: agent " + e.info.Name + " cannot be given a gateway"}
	default:
		e.route = e.provided()
	}
	if p := e.route.provider; p != nil {
		for name, values := range p.Header {
			for _, v := range values {
				_, credential, ok := strings.Cut(v, " ") // Bearer …
				if !ok {
					credential = v
				}
				e.secret(name, credential)
			}
		}
		for _, kv := range p.Login {
			name, value, _ := strings.Cut(kv, "=")
			e.secret(name, value)
		}
	}
	if strings.HasPrefix(e.route.name, "direct") { // then the agent has them
		for _, kv := range os.Environ() {
			if name, value, _ := strings.Cut(kv, "="); credentials.MatchString(name) && len(value) >= maskFrom {
				e.secret(name, value)
			}
		}
	}
}

// credentials are the names of variables that hold what nobody else is to see.
var credentials = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASSWORD|CUSTOM_HEADERS)$`)

// provided is the way through the gateway to the agent's own provider, or to the upstream that the environment names.
func (e *T) provided() route {
	if e.upstream != "" {
		p, err := parseUpstream(e.upstream, e.upstreamAuth)
		if err != nil {
			e.misuse("%v", err)
		}
		if u, err := url.Parse(e.upstream); err == nil && u.User != nil {
			password, _ := u.User.Password()
			e.secret(envUpstream, u.User.String())
			e.secret(envUpstream, password)
		}
		return route{name: hostOf(p.URL), provider: p}
	}
	a, ok := e.agent.(agents.Provided)
	if !ok {
		return route{name: "direct: agent " + e.info.Name + " does not say how it reaches its provider"}
	}
	p, err := a.Provider(os.Getenv)
	switch {
	case !agents.NoError(err):
		return route{name: "none", err: err}
	case p.Direct != "":
		return route{name: "direct: " + p.Direct}
	}
	return route{name: hostOf(p.URL), provider: &p}
}

// parseUpstream reads an upstream's URL, whose user and password authenticate as HTTP's Basic does, and header lines.
func parseUpstream(raw, auth string) (*agents.Provider, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: give the base URL of an API that the agent speaks, such as https://llm.example.com", envUpstream)
	}
	p := &agents.Provider{Header: http.Header{}}
	if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: p.Header}
		r.SetBasicAuth(u.User.Username(), password)
		u.User = nil
	}
	for line := range strings.Lines(auth) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%s: write each line as a header, such as `Authorization: Bearer …` or `X-Api-Key: …`", envUpstreamAuth)
		}
		p.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	p.URL = strings.TrimSuffix(u.String(), "/")
	return p, nil
}

// hostOf names an upstream without what is secret in its URL.
func hostOf(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		return u.Host
	}
	return "an upstream"
}

// upstream says what answers for the model.
func (a *attempt) upstream() string { return a.e.route.name }

// openGateway puts a gateway between the agent and its model, where there is to be one.
func (a *attempt) openGateway(s *agents.Setup) error {
	e := a.e
	if e.route.err != nil {
		return e.route.err
	}
	if e.route.provider == nil && !e.scripted {
		return nil
	}
	o := gateway.Options{Wire: a.info.Wire, Dir: s.Dir, Admit: a.watch.admit, Provider: e.route.provider, Progress: a.watch.alive}
	o.Bare = a.info.Shows != nil && len(a.info.Shows) == 0
	if e.scripted {
		o.Script = e.script
	}
	g, err := gateway.Open(o)
	if err != nil {
		return agents.Errorf(agents.SetupError, agents.FromHarness, "%w", err)
	}
	a.gateway = g
	endpoint := g.Endpoint()
	s.Gateway = &endpoint
	a.watch.gated = true
	return nil
}

// closeGateway ends the gateway and keeps what it saw: requests.json in the trial's folder. Then it holds what the agent
// claims against it.
func (a *attempt) closeGateway() {
	if a.gateway == nil {
		return
	}
	_ = a.gateway.Close()
	seen := a.gateway.Log()
	data, err := json.MarshalIndent(masked(a.e.masker(), seen), "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(a.record.Dir(), "requests.json"), data, 0o666)
	}
	if err != nil {
		a.note("keep the requests to the model: %v", err)
	}
	a.requests = requestsOf(seen)
	a.reconcile(seen)
}

// requestsOf is what the record's verdict says of requests.
func requestsOf(seen []gateway.Exchange) *journal.Requests {
	r := &journal.Requests{N: len(seen), Usage: gateway.Metered(seen)}
	overcome := gateway.Overcome(seen)
	for i, x := range seen {
		if f := x.Failure; f != nil {
			r.Failures = append(r.Failures, journal.RequestFailure{N: x.N, Kind: f.Kind, Status: x.Status, Message: f.Message(), Overcome: overcome[i]})
			continue
		}
		if x.State != gateway.Answered {
			continue
		}
		j := 0
		for j < len(r.Models) && (r.Models[j].Asked != x.Model || r.Models[j].Answered != x.Answered) {
			j++
		}
		if j == len(r.Models) {
			r.Models = append(r.Models, journal.AnsweredModel{Asked: x.Model, Answered: x.Answered})
		}
		r.Models[j].N++
	}
	return r
}

// reconcile holds what the agent says of how it ended against what the gateway saw: an agent may call the end of a provider
// a normal one, or a crash of its own. What the agent's own retries overcame is a fact, and no error.
func (a *attempt) reconcile(seen []gateway.Exchange) {
	if err := a.substitute(seen); err != nil {
		a.fail(err)
	}
	for _, x := range seen {
		if x.Unplayed { // what the agent did then is not what the author wrote
			a.fail(agents.Errorf(agents.SetupError, agents.FromAuthor, "the Script cannot be played on agent %s (request %d): %s", a.info.Name, x.N, x.Note))
			break
		}
	}
	x := gateway.Unhealed(seen)
	if x == nil || a.watch.ended != nil && a.err == nil {
		return
	}
	f := *x.Failure
	switch {
	case a.err == nil:
		f.Err = fmt.Errorf("the agent called its end a normal one, but its provider had failed at request %d: %w", x.N, x.Failure.Err)
	case a.err.Source == agents.FromHarness || a.err.Source == agents.FromAuthor:
		a.note("request %d to the model had failed: %v", x.N, x.Failure)
		return
	case a.err.Kind == f.Kind && a.err.Source == f.Source:
		f.Err = a.err.Err // the agent's own words, and what the gateway knows of trying again
	default:
		f.Err = fmt.Errorf("%w (the agent says: %s)", x.Failure.Err, firstLine(a.err.Error()))
	}
	a.err = &f
}

// substitute is an error when another model answered than the one that was asked for, and the eval does not allow it.
func (a *attempt) substitute(seen []gateway.Exchange) *agents.Error {
	for _, x := range seen {
		if x.State != gateway.Answered || x.Failure != nil || x.Side {
			continue
		}
		if m := a.e.model; m != "" && x.Model != "" && a.onMainThread(x) && !sameModel(m, x.Model) && !a.allows(x.Model) {
			return substituted("the eval asks for model %s, and the agent asked for %s (request %d)", m, x.Model, x.N)
		}
		if x.Model != "" && x.Answered != "" && !sameModel(x.Model, x.Answered) && !a.allows(x.Answered) {
			return substituted("model %s was asked for, and %s answered (request %d)", x.Model, x.Answered, x.N)
		}
	}
	return nil
}

func substituted(format string, args ...any) *agents.Error {
	e := agents.Errorf(agents.Protocol, agents.FromProvider, format+"; if that is meant, allow it with AllowModels", args...)
	e.Retryable = false
	return e
}

func (a *attempt) allows(model string) bool {
	for _, p := range a.e.models {
		if ok, _ := path.Match(p, model); ok { // the pattern was checked
			return true
		}
	}
	return false
}

// onMainThread reports whether a request brings results of calls of the main thread.
func (a *attempt) onMainThread(x gateway.Exchange) bool {
	for _, id := range x.Results {
		if c, ok := a.trial.Trajectory.Call(id); ok {
			return c.Parent == ""
		}
	}
	return false
}

// dated is the date that a provider puts behind the name of a model, or its word for the newest.
var dated = regexp.MustCompile(`^[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest|preview-\d{2}-\d{2})$`)

// sameModel reports whether two names are of one model: equal, but for a date; or the one is a word for a family of models
// ("opus", "sonnet[1m]"), and the other is of it. An agent resolves such a word itself.
func sameModel(asked, other string) bool {
	asked, _, _ = strings.Cut(asked, "[") // options of the agent's own
	other, _, _ = strings.Cut(other, "[")
	if asked == other {
		return true
	}
	if rest, ok := strings.CutPrefix(other, strings.TrimSuffix(asked, "-latest")); ok && dated.MatchString(rest) {
		return true
	}
	if rest, ok := strings.CutPrefix(asked, other); ok && dated.MatchString(rest) {
		return true
	}
	return !strings.ContainsAny(asked, "0123456789") && (asked == "default" || strings.Contains(other, asked))
}
