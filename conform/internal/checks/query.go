package checks

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

const formType = "application/x-www-form-urlencoded"

// asQuery sends a QUERY for a path with parameters, which become its body.
func asQuery(p *suite.Probe, path string, headers ...string) *suite.Reply {
	path, parameters, _ := strings.Cut(path, "?")
	return p.Send("QUERY", path, parameters, append([]string{"Content-Type", formType}, headers...)...)
}

// announces fails unless a response says what the body of a QUERY can be.
func announces(p *suite.Probe, r *suite.Reply) {
	accepted := r.Header.Get("Accept-Query")
	p.FailIf(!strings.Contains(accepted, formType), r, "Accept-Query with "+formType, "%q", accepted)
}

var queryChecks = []suite.Check{
	{
		ID: "query.same", Title: "QUERY as GET", Source: suite.OurQuery, Needs: 4,
		Rule: "QUERY takes the parameters of a GET from the body, and returns the same status and data.",
		Run: func(p *suite.Probe) {
			list, last := p.Collection.Path(), p.Reference[len(p.Reference)-1].ID()
			for _, path := range []string{
				list, list + "?limit=2", list + "?offset=1&limit=2&sort=-id", list + "?filter[id]=" + last, list + "?filter[id][in]=" + p.Reference[0].ID() + "," + last, list + "?limit=x",
				p.Item(0), p.Item(0) + "?nope=1", p.UnknownID(),
			} {
				get, query := p.Get(path), asQuery(p, path)
				p.FailIf(query.Status != get.Status, query, fmt.Sprintf("status %d, as GET %s has it", get.Status, path), "%s", query.Summary())
				if get.Status == http.StatusOK {
					p.FailIf(!bytes.Equal(query.Body, get.Body), query, "the body that GET "+path+" has", "%s", query.Summary())
				}
			}
		},
	},
	{
		ID: "query.headers", Title: "headers of QUERY", Source: suite.OurQuery, Needs: 4,
		Rule: "A response to QUERY has neither Link nor ETag, and the X-Total-Count of GET.",
		Run: func(p *suite.Probe) {
			list, total := p.OK(asQuery(p, p.Collection.Path()+"?limit=2")), p.List("limit=2").Header.Get(suite.TotalHeader)
			p.FailIf(list.Header.Get("Link") != "", list, "no Link", "%q", list.Header.Get("Link"))
			p.FailIf(list.Header.Get(suite.TotalHeader) != total, list, suite.TotalHeader+": "+total, "%q", list.Header.Get(suite.TotalHeader))
			one := p.OK(asQuery(p, p.Item(0)))
			p.FailIf(one.Header.Get("ETag") != "", one, "no ETag", "%q", one.Header.Get("ETag"))
		},
	},
	{
		ID: "query.without-effect", Title: "conditions of QUERY", Source: suite.OurQuery,
		Rule: "If-None-Match has no effect on a QUERY.",
		Run: func(p *suite.Probe) {
			p.OK(asQuery(p, p.Item(0), "If-None-Match", "*"))
		},
	},
	{
		ID: "query.one-place", Title: "parameters in two places", Source: suite.OurQuery,
		Rule: "A QUERY with parameters in the URL and in the body is 400.",
		Run: func(p *suite.Probe) {
			p.Status(p.Send("QUERY", p.Collection.Path()+"?limit=1", "sort=id", "Content-Type", formType), 400)
		},
	},
	{
		ID: "query.media-type", Title: "another media type of QUERY", Source: suite.OurQuery,
		Rule: "A QUERY with a body of another media type is 415 with Accept-Query.",
		Run: func(p *suite.Probe) {
			announces(p, p.Status(p.Send("QUERY", p.Collection.Path(), `{"limit":1}`, "Content-Type", "application/json"), 415))
		},
	},
	{
		ID: "query.accept", Title: "Accept-Query", Source: suite.OurQuery,
		Rule: "OPTIONS of collections and resources, and lists, have Accept-Query.",
		Run: func(p *suite.Probe) {
			for _, path := range []string{p.Collection.Path(), p.Item(0)} {
				announces(p, p.Send(http.MethodOptions, path, ""))
			}
			announces(p, p.List("limit=1"))
		},
	},
}
