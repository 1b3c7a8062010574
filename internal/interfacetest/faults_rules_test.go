package interfacetest

import (
	"net/http"
	"strings"
)

// lenient answers a write that a rule refuses as if it had been executed, without executing it.
func lenient(methods, code string) func(serve, *http.Request) *broken {
	return refusal(func(r *http.Request, a *broken) {
		if strings.Contains(methods, r.Method) && strings.Contains(a.body, `"code":"`+code+`"`) {
			a.status, a.body = 200, `{"data":{"id":"`+id(1)+`","type":"articles"}}`
		}
	})
}

var ruleFaults = []fault{
	{"computed attributes of new resources are ignored", accepted("POST", `"slug":"[^"]*",?`, ""), []string{"rules.computed"}},
	{"computed attributes are refused in PUT", func(next serve, r *http.Request) *broken {
		body := take(r)
		if r.Method == "PUT" && strings.Contains(body, `"slug"`) {
			body = strings.Replace(body, `"slug"`, `"slugs"`, 1)
		}
		give(r, body)
		return next(r)
	}, []string{"rules.computed-put", "rules.write-once", "rules.transition-everywhere"}},
	{"write-once attributes are ignored", accepted("PATCH", `"author":"[^"]*",?`, ""), []string{"rules.write-once"}},
	{"any state is initial", lenient("POST", "transition"), []string{"rules.initial", "rules.transition-everywhere"}},
	{"any state can follow in PATCH", lenient("PATCH", "transition"), []string{"rules.transition", "rules.transition-everywhere"}},
	{"the detail of a transition has no states", refusal(func(_ *http.Request, a *broken) {
		if strings.Contains(a.body, `"code":"transition"`) {
			a.replace(`"detail":"[^"]*"`, `"detail":"No."`)
		}
	}), []string{"rules.transition"}},
	{"no state can follow", accepted("PATCH", `"state":"published"`, `"state":"archived"`), []string{"rules.transition-taken"}},
	{"any state can follow in PUT", lenient("PUT", "transition"), []string{"rules.transition-everywhere"}},
	{"a transition is checked before the rest", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		if r.Method == "PATCH" && strings.Contains(body, "conform_unknown") && strings.Contains(body, "archived") {
			give(r, `{"state":"archived"}`)
		}
		return next(r)
	}, []string{"rules.transition-last"}},
	{"a check has no message", refusal(func(_ *http.Request, a *broken) {
		if strings.Contains(a.body, `"code":"check"`) {
			a.replace(`"detail":"[^"]*"`, `"detail":"No."`)
		}
	}), []string{"rules.check"}},
}
