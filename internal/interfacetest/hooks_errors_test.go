package interfacetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

const internalError = `{"errors":[{"status":500,"code":"internal","title":"Internal error","detail":"The server failed to answer this request. The log has the reason under this request id."}]}`

// log is what a server has logged.
type log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(line)
}

// keep has a server write to the log.
func (l *log) keep(c *plural.Config) { c.Logger = slog.New(slog.NewJSONHandler(l, nil)) }

// find gives the lines with a message, without their time, and forgets them all.
func (l *log) find(t *testing.T, message string) []map[string]any {
	t.Helper()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var found []map[string]any
	for line := range strings.Lines(l.text.String()) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatal(err)
		}
		if delete(members, "time"); members["msg"] == message {
			found = append(found, members)
		}
	}
	l.text.Reset()
	return found
}

// What a hook does in other collections is not the client's business, unless the
// hook says so.
func TestErrorsOfHooks(t *testing.T) {
	t.Parallel()
	foreign := func(tx *plural.Tx) error {
		_, err := tx.Create("entries", map[string]any{"line": 5})
		var first *problem.Error
		if !errors.As(err, &first) || first.Code != "type" || first.Source.Pointer != "/line" {
			t.Errorf("the hook itself sees %v", err)
		}
		return err
	}
	refusal := `{"status":422,"code":"refused","title":"Refused by a rule of this server","detail":"No.","source":{"pointer":"/name"}}`
	conflict := `{"status":409,"code":"conflict","title":"In conflict with a rule of this server","detail":"Taken.","source":{"pointer":"/slug"}}`
	for name, c := range map[string]struct {
		within func(ctx context.Context, tx *plural.Tx, change *plural.Change) error
		status int
		body   string
		cause  string // in the log
	}{
		"another collection's": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error { return foreign(tx) },
			500, internalError, "type at /line: ",
		},
		"another collection's, wrapped": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
				return fmt.Errorf("while writing: %w", foreign(tx))
			},
			500, internalError, "type at /line: ",
		},
		"another collection's id": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
				_, err := tx.Get("people", id(7))
				return err
			},
			500, internalError, "not_found: There is no resource " + id(7) + " here in people.",
		},
		"another collection's query": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
				_, err := tx.List("people", params.Where("nope").NotNull())
				return err
			},
			500, internalError, "unknown_parameter at filter[nope][null]: ",
		},
		"an answer to another collection's": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
				if err := foreign(tx); err != nil {
					return errors.Join(plural.Invalid("/name", "No."), err)
				}
				return nil
			},
			422, `{"errors":[` + refusal + `]}`, "",
		},
		"two refusals": {
			func(context.Context, *plural.Tx, *plural.Change) error {
				return errors.Join(plural.Invalid("/name", "No."), plural.Conflict("/slug", "Taken."))
			},
			422, `{"errors":[` + refusal + `,` + conflict + `]}`, "",
		},
		"a value that is not valid": {
			func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
				return change.After.Set("slug", []int{1})
			},
			422, `{"errors":[{"status":422,"code":"type","title":"Wrong type","detail":"Must be a string, but is an array.","source":{"pointer":"/slug"}}]}`, "",
		},
		"a code that nobody knows": {
			func(context.Context, *plural.Tx, *plural.Change) error {
				return &problem.Error{Code: "teapot", Detail: "for the log"}
			},
			500, internalError, "teapot: for the log",
		},
		"a list of none": {
			func(context.Context, *plural.Tx, *plural.Change) error { return problem.Errors{} },
			201, `{"data":{"id":"` + id(1) + `","type":"people","name":"Ada","slug":null}}`, "",
		},
		"nil in an interface": {
			func(context.Context, *plural.Tx, *plural.Change) error { return (*problem.Error)(nil) },
			500, internalError, "an error that is nil",
		},
		"the end of its time": {
			func(ctx context.Context, _ *plural.Tx, _ *plural.Change) error {
				<-ctx.Done()
				return ctx.Err()
			},
			503, `{"errors":[{"status":503,"code":"hook_timeout","title":"A rule of this server took too long","detail":"A hook of this server took too long. Try again later."}]}`, "",
		},
		"a change to what was read": {
			func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
				made, err := tx.Create("entries", map[string]any{"line": "x"})
				if err != nil {
					return err
				}
				return made.Set("line", "y")
			},
			500, internalError, " is stored, so Set has no effect: use Update of the transaction",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var logged log
			hook := plural.Hook{Collection: "people", Within: c.within, Timeout: time.Minute}
			if name == "the end of its time" {
				hook.Timeout = 20 * time.Millisecond
			}
			eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
				s.do("POST", "/people", `{"id":"`+id(1)+`","name":"Ada"}`).expect(t, c.status, c.body)
				failed := logged.find(t, "request failed")
				if c.cause == "" && len(failed) > 0 || c.cause != "" && (len(failed) != 1 || !strings.Contains(fmt.Sprint(failed[0]["error"]), c.cause)) {
					t.Errorf("the log has %v", failed)
				}
			}, withHooks(hook), logged.keep)
		})
	}
}

// A place that a hook names is one in the item that it ran for; what is not the
// client's doing has none.
func TestErrorsOfHooksInArrays(t *testing.T) {
	within := func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		switch change.After.Get("name") {
		case "set":
			return change.After.Set("slug", 5)
		case "join":
			return errors.Join(plural.Invalid("/name", "No."), plural.Invalid("", "Nothing."))
		case "fail":
			return errors.New("on purpose")
		}
		return nil
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.do("POST", "/people", `[{"name":"a"},{"name":"set"}]`).expectErrors(t, 422, "type /1/slug")
		s.do("POST", "/people", `[{"name":"a"},{"name":"join"}]`).expectErrors(t, 422, "refused /1/name", "refused /1")
		s.do("POST", "/people", `[{"name":"a"},{"name":"fail"}]`).expect(t, 500, internalError)
	}, withHooks(plural.Hook{Collection: "people", Within: within}))
}

// A hook that looks for what the resource refers to need not care that it may be
// missing: the client learns of it as it would without the hook.
func TestHookWithAMissingReference(t *testing.T) {
	within := func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		person, _ := change.After.Get("person_id").(string)
		_, err := tx.Get("people", person)
		return err
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		s.create("/people", `{"id":"`+id(1)+`","name":"Ada"}`)
		s.create("/notes", `{"id":"`+id(2)+`","person_id":"`+id(1)+`"}`)
		s.do("POST", "/notes", `[{"person_id":"`+id(1)+`"},{"person_id":"`+id(9)+`"}]`).expectErrors(t, 422, "unknown_reference /1/person_id")
		s.do("PATCH", "/notes/"+id(2), `{"person_id":"`+id(9)+`"}`).expectErrors(t, 422, "unknown_reference /person_id")
		s.do("PATCH", "/notes/"+id(2), `{"person_id":null}`).expect(t, 500, internalError) // which the hook should have thought of
	}, withHooks(plural.Hook{Collection: "notes", On: []plural.Verb{plural.Create, plural.Update}, Within: within}))
}

// Nobody can be told that a hook failed behind the commit, so the log has to say
// whose it was.
func TestLogOfAHookThatFailsAfterTheCommit(t *testing.T) {
	var logged log
	release := make(chan struct{})
	defer close(release)
	hook := plural.Hook{
		Collection: "people", Timeout: 20 * time.Millisecond,
		After: func(context.Context, *plural.Change) { <-release },
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		for _, c := range []struct{ verb, method, path, body string }{
			{"create", "POST", "/people", `{"id":"` + id(1) + `","name":"Ada"}`},
			{"update", "PATCH", "/people/" + id(1), `{"name":"Bob"}`},
			{"delete", "DELETE", "/people/" + id(1), ""},
		} {
			answer := s.do(c.method, c.path, c.body)
			want := map[string]any{
				"level": "ERROR", "msg": "hook failed after the commit", "verb": c.verb, "collection": "people", "id": id(1),
				"error":      "hook_timeout: A hook of this server took too long. Try again later. (a hook took longer than 20ms)",
				"request_id": answer.header.Get("X-Request-Id"),
			}
			if got := logged.find(t, "hook failed after the commit"); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("%s: got  %v\nwant %v", c.verb, got, want)
			}
		}
	}, withHooks(hook), logged.keep)
}
