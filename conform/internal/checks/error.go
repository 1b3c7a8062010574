package checks

import (
	"encoding/json"
	"strconv"

	"github.com/plural-go/plural/conform/internal/suite"
)

var errorChecks = []suite.Check{
	{
		ID: "error.members", Title: "members of an error", Source: suite.OurErrors,
		Rule: "An error has status, code, title and detail; status is a number, the others are non-empty strings.",
		Run: func(p *suite.Probe) {
			for _, r := range p.Refusals() {
				for _, each := range p.Errors(r) {
					_, isNumber := each["status"].(json.Number)
					p.FailIf(!isNumber, r, "status, a number", "%s", suite.EncodeJSON(each))
					for _, name := range []string{"code", "title", "detail"} {
						text, _ := each[name].(string)
						p.FailIf(text == "", r, name+", a text", "%s", suite.EncodeJSON(each))
					}
				}
			}
		},
	},
	{
		ID: "error.status", Title: "status of an error", Source: suite.OurErrors,
		Rule: "The status of the first error is the status of the response.",
		Run: func(p *suite.Probe) {
			for _, r := range p.Refusals() {
				first := p.Errors(r)[0]
				got := suite.EncodeJSON(first["status"])
				want := strconv.Itoa(r.Status)
				p.FailIf(first["status"] != nil && got != want, r, "status "+want, "%s", got)
			}
		},
	},
	{
		ID: "error.parameter", Title: "errors name the parameter", Source: suite.OurErrors,
		Rule: "An error about a query parameter has source.parameter, its name as the client wrote it.",
		Run: func(p *suite.Probe) {
			for query, want := range map[string]string{"o=-1": "o", "limit=ten": "limit", "filter[conform_unknown]=1": "filter[conform_unknown]", "conform=1": "conform"} {
				p.Source(p.List(query), "parameter", want)
			}
		},
	},
	{
		ID: "error.header", Title: "errors name the header", Source: suite.OurErrors,
		Rule: "An error about a request header has source.header.",
		Run:  func(p *suite.Probe) { p.Source(p.List("", "Accept", "text/plain"), "header", "Accept") },
	},
	{
		ID: "error.pointer", Title: "errors point into the body", Source: suite.OurErrors, Writes: true,
		Rule: "An error about a body has source.pointer, a JSON Pointer to the place.",
		Run: func(p *suite.Probe) {
			p.Source(p.Post(p.Body(map[string]any{"conform_unknown": 1})), "pointer", "/conform_unknown")
			p.Source(p.Post("["+p.Body(nil)+","+p.Body(map[string]any{"conform/~": 1})+"]"), "pointer", "/1/conform~1~0")
		},
	},
}
