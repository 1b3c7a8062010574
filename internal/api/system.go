package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// Paths below /-/ are not part of the resource interface.

// errSystemRoot is the error of /- itself: programs find nothing there, and browsers are
// redirected to the explorer.
var errSystemRoot = errors.New("nothing is at this path")

func (a *API) systemRoot(r *http.Request, out *response) (*reply, error) {
	if isRead(r.Method) {
		if sent := a.redirectToExplorer(r, out); sent != nil {
			return sent, nil
		}
	}
	return nil, a.unknownPath()
}

func (a *API) systemTarget(segments []string) (*target, error) {
	if len(segments) == 0 {
		return nil, errSystemRoot
	}
	if len(segments) == 1 {
		switch name := segments[0]; name {
		case "health", "ready", "metrics", "openapi.json":
			return &target{kind: systemPath, pattern: "/-/" + name, system: name}, nil
		case "transaction":
			return &target{kind: transactionPath, pattern: transactionAddress}, nil
		case "me":
			return &target{kind: callerPath, pattern: callerAddress}, nil
		case "mcp":
			return a.agentsTarget()
		case "can":
			return a.decisionsTarget()
		}
	}
	if n := len(segments); (n == 1 || n == 2) && segments[0] == "keys" {
		return a.keysTarget(segments[1:])
	}
	if len(segments) == 2 && "/-/"+segments[0] == groupsPrefix {
		return a.groupsTarget(segments[1])
	}
	if t := webPageTarget(segments); t != nil {
		return t, nil
	}
	known := []string{"health", "ready", "metrics", "openapi.json", "transaction", "keys", "me", "can", "mcp", "explorer", "docs"}
	return nil, a.unknownPathNear("/-", suggest.Nearest(strings.Join(segments, "/"), known))
}

func (a *API) system(r *http.Request, t *target) (*reply, error) {
	if t.isWebPage() {
		return a.serve(r, t)
	}
	switch t.system {
	case "metrics":
		if by := t.path.By; !by.MaySeeMetrics() {
			return nil, by.Denied("You may not read the metrics.")
		}
		return &reply{handler: a.metrics}, nil
	case "openapi.json":
		return a.openAPI(r, t.path.By)
	case catalogTarget.system:
		return a.catalog(), nil
	case "ready":
		return a.state("ready", "unavailable", a.isReady()), nil
	default:
		return a.state("ok", "failed", a.Resources.Health()), nil
	}
}

// isReady returns the reason why the server is not ready, or nil. A server that stops says so
// at once.
func (a *API) isReady() error {
	if a.Draining.Err() != nil {
		return errStopping
	}
	return a.ready.look(a.Ready)
}

// state replies that the server works or, for a reason, that it does not. The reason is shown if it is public.
func (a *API) state(works, fails string, reason error) *reply {
	status := http.StatusOK
	body := struct {
		Status string `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{Status: works}
	if reason != nil {
		a.Observer.NotReady(reason)
		status, body.Status = http.StatusServiceUnavailable, fails
	}
	if known, ok := errors.AsType[*problem.Error](reason); ok {
		body.Detail = known.Detail
	}
	head := header("Content-Type", "application/json")
	head.Set("Cache-Control", "no-store")
	return &reply{status: status, header: head, body: model.MustMarshal(body)}
}
