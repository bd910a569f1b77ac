package journal

// intern has equal texts share their memory: the trials of a run have most of what they say in common, and a run can have
// ten thousand.
type intern map[string]string

func (in intern) text(s *string) {
	if *s == "" || len(*s) > 256 {
		return
	}
	if known, ok := in[*s]; ok {
		*s = known
	} else if len(in) < 1<<16 {
		in[*s] = *s
	}
}

func (in intern) intent(i *Intent) {
	if in == nil {
		return
	}
	for _, s := range []*string{
		&i.ID.Package, &i.ID.Test, &i.Gate, &i.MinScore, &i.Source, &i.Agent.Name, &i.Agent.Version, &i.Agent.Model, &i.Agent.Upstream,
		&i.Agent.Containment, &i.Policy.OnError, &i.Policy.Keep, &i.Policy.Resumes, (*string)(&i.Mode),
	} {
		in.text(s)
	}
	for n := range i.Prompts {
		in.text(&i.Prompts[n])
	}
	for n := range i.Criteria {
		c := &i.Criteria[n]
		for _, s := range []*string{&c.Name, &c.Weight, &c.PassAt, &c.Armed, &c.Source} {
			in.text(s)
		}
	}
	i.Fingerprint.Run, i.Fingerprint.Grade = in.parts(i.Fingerprint.Run), in.parts(i.Fingerprint.Grade)
}

func (in intern) parts(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		in.text(&k)
		in.text(&v)
		out[k] = v
	}
	return out
}

func (in intern) criterion(c *CriterionResult) {
	if in == nil {
		return
	}
	in.text(&c.Name)
	for _, s := range []*string{&c.Score.Lo.Reason, &c.Score.Hi.Reason, &c.Score.Lo.Expected, &c.Score.Hi.Expected, &c.Score.Lo.Observed, &c.Score.Hi.Observed} {
		in.text(s)
	}
}
