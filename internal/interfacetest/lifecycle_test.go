package interfacetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
)

const articleFile = `
collections:
  articles:
    timestamps: false
    attributes:
      title: {type: string, maxLength: 50, unique: true}
      state:
        type: string
        enum: [draft, review, published, archived]
        default: draft
        transitions: {draft: [review], review: [draft, published], published: [archived]}
        initial: [draft, review]
      code: {type: string, write_once: true}
      origin: {type: string, default: web, write_once: true}
      owner: {type: string}
access:
  roles:
    public:
      articles: [list, read, create, update, delete, changes]
    author:
      articles:
        list: true
        read: true
        create: true
        update: true
        transitions:
          state: {review: resource.owner == auth.sub, published: false, archived: true}
    mute:
      articles: {read: true, list: true, update: true, visible: [title]}
    blind:
      articles: {read: true, list: true, create: true, update: true, visible: [title], writable: [title, state, code]}
`

// article is the representation of an article with a state and nothing else.
func article(position int, state string) string {
	return fmt.Sprintf(`{"id":"%s","type":"articles","title":null,"state":"%s","code":null,"origin":"web","owner":null}`, id(position), state)
}

func inState(position int, state string) string {
	return fmt.Sprintf(`{"id":"%s","state":"%s"}`, id(position), state)
}

// transitionRefused is the body of a response with one error about a lifecycle.
func transitionRefused(pointer, detail string) string {
	source := ""
	if pointer != "" {
		source = `,"source":{"pointer":"` + pointer + `"}`
	}
	return `{"errors":[{"status":409,"code":"transition","title":"The lifecycle does not allow this state","detail":"` + detail + `"` + source + `}]}`
}

// TestLifecycle: no path of a write makes a transition that is not declared.
func TestLifecycle(t *testing.T) {
	eachStore(t, parsed(t, articleFile).Schema, func(t *testing.T, s *server) {
		first, second := "/articles/"+id(1), "/articles/"+id(2)
		s.do("POST", "/articles", inState(1, "published")).expect(t, 409, transitionRefused("/state", "A new resource cannot have the state published. It can have draft or review."))
		s.do("POST", "/articles", `[{"id":"`+id(1)+`"},`+inState(2, "archived")+`]`).expect(t, 409, transitionRefused("/1/state", "A new resource cannot have the state archived. It can have draft or review."))
		s.do("POST", "/articles?on_conflict=title", `{"title":"T","state":"archived"}`).expectErrors(t, 409, "transition /state")
		s.do("POST", "/articles", `{"state":"new"}`).expectErrors(t, 422, "enum /state")
		s.do("POST", "/articles", `{"state":null}`).expectErrors(t, 422, "required /state")
		s.do("POST", "/articles", `{"id":"`+id(1)+`"}`).expect(t, 201, one(article(1, "draft")))
		s.do("POST", "/articles", inState(2, "review")).expect(t, 201, one(article(2, "review")))

		refused := func(from string) string {
			return transitionRefused("/state", "The state cannot change from "+from+" to archived. It can change to "+map[string]string{"draft": "review", "review": "draft or published"}[from]+".")
		}
		s.do("PATCH", first, `{"state":"archived"}`).expect(t, 409, refused("draft"))
		s.do("PATCH", first+"?dry_run=true", `{"state":"archived"}`).expect(t, 409, refused("draft"))
		s.do("PUT", first, `{"state":"archived"}`).expect(t, 409, refused("draft"))
		s.do("PATCH", first, `{"state":"archived"}`, "Prefer", "respond-async").expect(t, 409, refused("draft"))
		s.do("PATCH", first, `{"state":null}`).expectErrors(t, 422, "required /state")
		s.do("PATCH", first, `{"state":"archived","title":7}`).expectErrors(t, 422, "type /title")
		s.do("PATCH", first, `{"state":"draft"}`).expect(t, 200, one(article(1, "draft")))
		s.do("PATCH", "/articles?filter[state]=review", `{"state":"archived"}`).expectErrors(t, 409, "transition /state")
		s.transaction([]string{step("PATCH", first, `{"state":"review"}`), step("PATCH", first, `{"state":"published"}`), step("PATCH", second, `{"state":"archived"}`)}).
			expect(t, 409, transitionRefused("/2/body/state", "The state cannot change from review to archived. It can change to draft or published."))
		s.transaction([]string{step("PATCH", first, `{"state":"review"}`), step("PATCH", first, `{"state":"published"}`)}).
			expect(t, 200, `{"data":[`+article(1, "review")+","+article(1, "published")+`]}`)
		// A PUT without the attribute gives it the default.
		s.do("PUT", second, `{}`).expect(t, 200, one(article(2, "draft")))
		s.do("PUT", first, `{}`).expect(t, 409, transitionRefused("/state", "The state cannot change from published to draft. It can change to archived."))
		s.do("PATCH", first, `{"state":"archived"}`).expect(t, 200, one(article(1, "archived")))
		s.do("PATCH", first, `{"state":"published"}`).expect(t, 409, transitionRefused("/state", "The state cannot change from archived to published. No transition leads out of archived."))
		s.do("POST", "/articles?on_conflict=id", inState(1, "draft")).expectErrors(t, 409, "transition /state")
		s.do("POST", "/articles", `[`+inState(1, "archived")+`,`+inState(3, "archived")+`]`).expectErrors(t, 409, "id_exists /0/id", "transition /1/state")
	})
}

// TestWriteOnce: only a create sets the attribute, and null is a value.
func TestWriteOnce(t *testing.T) {
	eachStore(t, parsed(t, articleFile).Schema, func(t *testing.T, s *server) {
		path := "/articles/" + id(1)
		stored := func(title string) string {
			return one(fmt.Sprintf(`{"id":"%s","type":"articles","title":%s,"state":"draft","code":"a","origin":"web","owner":null}`, id(1), title))
		}
		s.do("POST", "/articles", `{"id":"`+id(1)+`","code":"a"}`).expect(t, 201, stored("null"))
		s.do("POST", "/articles", `{"id":"`+id(2)+`"}`).expect(t, 201, one(article(2, "draft")))
		s.do("PATCH", path, `{"code":"b","origin":null}`).expectErrors(t, 422, "read_only /code", "read_only /origin")
		s.do("PATCH", path, `{"code":"a","title":"T"}`).expect(t, 200, stored(`"T"`))
		s.do("PUT", path, `{"title":"U"}`).expectErrors(t, 422, "read_only /code")
		s.do("PUT", path, `{"title":"U","code":"a"}`).expect(t, 200, stored(`"U"`))
		s.do("PUT", path, `{"title":"U","code":"a","origin":"mail"}`).expectErrors(t, 422, "read_only /origin")
		s.do("PATCH", "/articles/"+id(2), `{"code":"a"}`).expectErrors(t, 422, "read_only /code")
		s.do("PUT", "/articles/"+id(2), `{}`).expect(t, 200, one(article(2, "draft")))
		s.do("POST", "/articles?on_conflict=title", `[{"title":"U","code":"b"}]`).expectErrors(t, 422, "read_only /0/code")
		s.transaction([]string{step("PATCH", path, `{"code":"b"}`)}).expectErrors(t, 422, "read_only /0/body/code")
		s.do("PATCH", path+"?dry_run=true", `{"code":"b"}`).expectErrors(t, 422, "read_only /code")
		// 422 comes before 409.
		s.do("PATCH", path, `{"code":"b","state":"archived"}`).expectErrors(t, 422, "read_only /code")
	})
}

// eachArticleServer runs a test on each database, with the keys of an author, ada, and of one who does not see states.
func eachArticleServer(t *testing.T, test func(*testing.T, *accessServer), change ...func(*plural.Config)) {
	t.Helper()
	file := parsed(t, articleFile)
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{s, map[string]string{"public": ""}, ""}
		h.key("ada", "author", "ada")
		h.key("blind", "blind", "")
		h.key("mute", "mute", "")
		test(t, h)
	}, append([]func(*plural.Config){func(c *plural.Config) { c.Access = file.Access }}, change...)...)
}

// TestTransitionRules: the resource must meet the rule of a transition before the change, and a new resource as it is created.
func TestTransitionRules(t *testing.T) {
	eachArticleServer(t, func(t *testing.T, h *accessServer) {
		path := "/articles/" + id(1)
		owned := func(position int, state, owner string) string {
			return fmt.Sprintf(`{"id":"%s","type":"articles","title":null,"state":"%s","code":null,"origin":"web","owner":"%s"}`, id(position), state, owner)
		}
		h.as("ada", "POST", "/articles", `{"state":"review","owner":"bo"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "POST", "/articles", `[{"state":"draft","owner":"bo"},{"state":"review","owner":"bo"}]`).expectErrors(t, 403, "forbidden /1")
		h.as("ada", "POST", "/articles?on_conflict=title", `{"title":"T","state":"review","owner":"bo"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "POST", "/articles", `{"state":"review","owner":"bo"}`, "Prefer", "respond-async").expectErrors(t, 403, "forbidden")
		h.as("ada", "POST", "/articles", `{"id":"`+id(2)+`","state":"review","owner":"ada"}`).expect(t, 201, one(owned(2, "review", "ada")))
		h.as("ada", "POST", "/articles", `{"id":"`+id(1)+`","owner":"bo"}`).expect(t, 201, one(owned(1, "draft", "bo")))
		// What is written does not count, but what is stored.
		const taken = `{"state":"review","owner":"ada"}`
		h.as("ada", "PATCH", path, taken).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path, `{"state":"review","title":7}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path, taken, "Prefer", "respond-async").expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path, taken, "If-Match", `"other"`).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path+"?dry_run=true", taken).expectErrors(t, 403, "forbidden")
		h.as("ada", "PUT", path, taken).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", "/articles?filter[owner]=bo", taken).expectErrors(t, 403, "forbidden")
		h.as("ada", "POST", "/articles?on_conflict=id", `{"id":"`+id(1)+`","state":"review"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "POST", "/-/transaction", `[`+step("PATCH", path, `{"owner":"bo"}`)+`,`+step("PATCH", path, `{"state":"review"}`)+`]`).expectErrors(t, 403, "forbidden /1/path")
		h.as("ada", "PATCH", path, `{"owner":"ada"}`).expect(t, 200, one(owned(1, "draft", "ada")))
		h.as("ada", "PATCH", path, `{"state":"review","owner":"bo"}`).expect(t, 200, one(owned(1, "review", "bo")))
		h.as("ada", "PATCH", path, `{"state":"review"}`).expect(t, 200, one(owned(1, "review", "bo")))
		// Denied comes before what the lifecycle does not allow, and each state has a rule of its own.
		h.as("ada", "PATCH", path, `{"state":"published"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "PUT", path, `{"state":"published"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path, `{"state":"archived"}`).expectErrors(t, 409, "transition /state")
		h.as("public", "PATCH", path, `{"state":"published"}`).expect(t, 200, one(owned(1, "published", "bo")))
		h.as("ada", "PATCH", path, `{"state":"review"}`).expectErrors(t, 403, "forbidden")
		h.as("ada", "PATCH", path, `{"state":"archived"}`).expect(t, 200, one(owned(1, "archived", "bo")))
	})
}

// TestTransitionRulesOfOperations are evaluated for the state that earlier operations leave.
func TestTransitionRulesOfOperations(t *testing.T) {
	eachArticleServer(t, func(t *testing.T, h *accessServer) {
		path, async := "/articles/"+id(1), []string{"Prefer", "respond-async"}
		h.as("public", "POST", "/articles", `{"id":"`+id(1)+`","owner":"bo"}`)
		h.as("ada", "PATCH", path, `{"state":"review"}`, async...).expectErrors(t, 403, "forbidden")
		given := h.as("ada", "PATCH", path, `{"owner":"ada"}`, async...).operation(t)
		taken := h.as("ada", "PATCH", path, `{"state":"review"}`, async...).operation(t)
		published := h.as("ada", "PATCH", path, `{"state":"published"}`, async...).operation(t)
		h.another(func(c *plural.Config) { c.Workers = 1 })
		var refused answer
		for _, operation := range []string{given, taken, published} {
			eventually(t, "the operation is finished", func() bool {
				refused = h.as("ada", "GET", "/operations/"+operation, "")
				return refused.member(t, "status") != `"pending"` && refused.member(t, "status") != `"running"`
			})
		}
		errors := answer{refused.status, refused.header, `{"errors":` + refused.member(t, "errors") + `}`}
		if got := errors.errorText(t); got != "forbidden" {
			t.Errorf("the operation has failed with %s", got)
		}
		h.get(path).expect(t, 200, one(fmt.Sprintf(`{"id":"%s","type":"articles","title":null,"state":"review","code":null,"origin":"web","owner":"ada"}`, id(1))))
	}, func(c *plural.Config) { c.Workers = -1 })
}

// TestHiddenLifecycle: who does not see an attribute is not told its states, nor its name, unless they can set it.
func TestHiddenLifecycle(t *testing.T) {
	eachArticleServer(t, func(t *testing.T, h *accessServer) {
		path := "/articles/" + id(1)
		hidden := transitionRefused("/state", "The lifecycle of the resource does not allow this change.")
		h.as("blind", "POST", "/articles", inState(1, "archived")).expect(t, 409, hidden)
		h.as("blind", "POST", "/articles", `{"id":"`+id(1)+`"}`).expect(t, 201, `{"data":{"id":"`+id(1)+`","type":"articles","title":null}}`)
		h.as("blind", "PATCH", path, `{"state":"archived"}`).expect(t, 409, hidden)
		h.as("blind", "PATCH", path, `{"state":"review"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"articles","title":null}}`)
		h.as("mute", "PATCH", path, `{"title":"archive"}`).expect(t, 409, transitionRefused("", "The lifecycle of the resource does not allow this change."))
	}, withHooks(plural.Hook{Collection: "articles", Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
		if change.After.Get("title") == "archive" {
			return change.After.Set("state", "archived")
		}
		return nil
	}}))
}

// TestEventsOfTransitions have the state before.
func TestEventsOfTransitions(t *testing.T) {
	eachStore(t, parsed(t, articleFile).Schema, func(t *testing.T, s *server) {
		path := "/articles/" + id(1)
		s.write("POST", "/articles", inState(1, "draft"))
		all, unpublished := s.stream("/articles"), s.stream("/articles?filter[state][in]=draft,review")
		for _, each := range []*events{all, unpublished} {
			each.expect("listed "+one(article(1, "draft")), "synced {}")
		}
		s.do("PATCH", path, `{"state":"published"}`).expectErrors(t, 409, "transition /state")
		s.write("PATCH", path, `{"state":"review"}`)
		s.write("PATCH", path, `{"state":"published"}`)
		reviewed := "updated " + eventOf(article(1, "review"), `,"previous":{"state":"draft"}`)
		all.expect(reviewed, "updated "+eventOf(article(1, "published"), `,"previous":{"state":"review"}`))
		unpublished.expect(reviewed, `left {"data":{"id":"`+id(1)+`","type":"articles"}}`)
	})
}

// TestTransitionsOfOperations: while operations on a resource are unfinished, the next one is accepted whatever its state is now. Each is
// checked when it is applied.
func TestTransitionsOfOperations(t *testing.T) {
	eachStore(t, parsed(t, articleFile).Schema, func(t *testing.T, s *server) {
		path := "/articles/" + id(1)
		s.do("POST", "/articles", inState(1, "draft"))
		s.do("PATCH", path, `{"state":"published"}`, "Prefer", "respond-async").expectErrors(t, 409, "transition /state")
		s.do("PATCH", path, `{"code":"a"}`, "Prefer", "respond-async").expectErrors(t, 422, "read_only /code")
		succeed := []string{s.later("PATCH", path, `{"state":"review"}`), s.later("PATCH", path, `{"state":"published"}`)}
		again, code := s.later("PATCH", path, `{"state":"review"}`), s.later("PATCH", path, `{"code":"a"}`)
		created := s.later("POST", "/articles", inState(2, "review"))
		s.do("POST", "/articles", inState(3, "archived"), "Prefer", "respond-async").expectErrors(t, 409, "transition /state")
		succeed = append(succeed, created, s.later("PATCH", "/articles/"+id(2), `{"state":"published"}`))
		worker := s.another(func(c *plural.Config) { c.Workers = 1 })
		worker.expectSuccess(t, succeed...)
		worker.expectFailure(t, again, worker.do("PATCH", path, `{"state":"review"}`))
		worker.expectFailure(t, code, worker.do("PATCH", path, `{"code":"a"}`))
		s.get("/articles").expect(t, 200, data(article(1, "published"), article(2, "published")))
	}, func(c *plural.Config) { c.Workers = -1 })
}

// TestHooksAndLifecycles: what hooks set is bound by the lifecycle, but not by the rules of the client.
func TestHooksAndLifecycles(t *testing.T) {
	var mutex sync.Mutex
	var seen []string
	note := func(when string, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		from, to, ok := change.Transition("state")
		seen = append(seen, strings.TrimSpace(fmt.Sprintf("%s %s %s>%s %t", when, change.Verb, from, to, ok)))
	}
	// The title says what a hook sets.
	set := func(when string, change *plural.Change) error {
		if change.After == nil {
			return nil
		}
		title, _ := change.After.Get("title").(string)
		if state, found := strings.CutPrefix(title, when+" "); found {
			return change.After.Set("state", state)
		}
		return nil
	}
	hook := plural.Hook{
		Collection: "articles",
		Before: func(_ context.Context, change *plural.Change) error {
			note("before", change)
			return set("before", change)
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			note("within", change)
			return set("within", change)
		},
		After: func(_ context.Context, change *plural.Change) { note("after", change) },
	}
	eachArticleServer(t, func(t *testing.T, h *accessServer) {
		expect := func(want ...string) {
			t.Helper()
			mutex.Lock()
			defer mutex.Unlock()
			if !slices.Equal(seen, want) {
				t.Errorf("the hooks have seen\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
			}
			seen = nil
		}
		path := "/articles/" + id(1)
		titled := func(title, state, owner string) string {
			return one(fmt.Sprintf(`{"id":"%s","type":"articles","title":"%s","state":"%s","code":null,"origin":"web","owner":%s}`, id(1), title, state, owner))
		}
		for _, when := range []string{"before", "within"} {
			h.as("ada", "POST", "/articles", `{"id":"`+id(1)+`","title":"`+when+` archived"}`).expectErrors(t, 409, "transition /state")
			mutex.Lock()
			seen = nil
			mutex.Unlock()
			// Ada may not create this state herself, as the article is not hers.
			h.as("ada", "POST", "/articles", `{"id":"`+id(1)+`","title":"`+when+` review","owner":"bo"}`).expect(t, 201, titled(when+" review", "review", `"bo"`))
			expect("before create >draft true", map[string]string{"before": "within create >review true", "within": "within create >draft true"}[when], "after create >review true")
			h.as("ada", "PATCH", path, `{"title":"`+when+` archived"}`).expectErrors(t, 409, "transition /state")
			mutex.Lock()
			seen = nil
			mutex.Unlock()
			// Nor may she publish.
			h.as("ada", "PATCH", path, `{"state":"published"}`).expectErrors(t, 403, "forbidden")
			expect("before update > false")
			h.as("ada", "PATCH", path, `{"title":"`+when+` published"}`).expect(t, 200, titled(when+" published", "published", `"bo"`))
			expect("before update > false", map[string]string{"before": "within update review>published true", "within": "within update > false"}[when], "after update review>published true")
			h.as("public", "PATCH", path, `{"title":"T"}`)
			h.as("public", "DELETE", path, "")
			expect("before update > false", "within update > false", "after update > false", "before delete > false", "within delete > false", "after delete > false")
		}
		// What she asks for counts, even if a hook sets another state.
		h.as("public", "POST", "/articles", `{"id":"`+id(1)+`","state":"review"}`)
		h.as("ada", "PATCH", path, `{"title":"before draft","state":"published"}`).expectErrors(t, 403, "forbidden")
	}, withHooks(hook))
}
