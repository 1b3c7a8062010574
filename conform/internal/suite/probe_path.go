package suite

import (
	"net/http"
	"slices"
	"strings"
)

func (p *Probe) FirstReference() string {
	p.Need(1)
	return p.Reference[0].ID()
}

// Singular is the path of the first resource under the singular.
func (p *Probe) Singular() string {
	if p.Collection.Singular == "" {
		p.Skip("the singular is not known, as the server does not describe the collection at GET /")
	}
	return "/" + p.Collection.Singular + "/" + p.FirstReference()
}

// WrongMethods are requests with methods that the paths do not have. They must be harmless on every
// server, so there is no DELETE or PUT on a collection.
func (p *Probe) WrongMethods() []*Reply {
	path, _ := p.Create()
	return []*Reply{
		p.Send(http.MethodPost, path, "{}"),
		p.Send("CONFORM", p.Collection.Path(), ""),
	}
}

func (p *Probe) Allows(r *Reply, methods []string) {
	var allowed []string
	for _, line := range r.Header.Values("Allow") {
		for method := range strings.SplitSeq(line, ",") {
			allowed = append(allowed, strings.TrimSpace(method))
		}
	}
	for _, method := range methods {
		if !slices.Contains(allowed, method) {
			p.Fail(r, "Allow with "+strings.Join(methods, ", "), "%q", strings.Join(allowed, ", "))
		}
	}
}
