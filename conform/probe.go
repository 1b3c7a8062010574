package conform

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// probe has the methods that checks use. A method that fails ends the check.
type probe struct {
	*suite
	check Check
}

// outcome ends a check.
type outcome struct {
	status  Status
	reason  string
	failure *Failure
}

// fail ends the check: the server violates the rule.
func (p *probe) fail(r *reply, expected, got string, args ...any) {
	panic(outcome{status: Failed, failure: &Failure{Request: r.request(), Expected: expected, Got: fmt.Sprintf(got, args...)}})
}

// skip ends the check: this server gives no way to test the rule.
func (p *probe) skip(reason string, args ...any) {
	panic(outcome{status: Skipped, reason: fmt.Sprintf(reason, args...)})
}

// send sends a request. If a write is accepted for later, it waits for the operation and returns the
// response that a synchronous write would have had, unless the check tests the response itself. In
// an asynchronous run it asks for asynchronous execution.
func (p *probe) send(method, path, body string, headers ...string) *reply {
	if p.check.Synchronous != "" || !isWriteOfOne(method, body) {
		return p.sendOnly(method, path, body, headers...)
	}
	if !p.options.Async {
		return p.settled(path, p.sendOnly(method, path, body, headers...))
	}
	answer := p.prefer("respond-async", method, path, body, headers...)
	if answer.succeeded() && answer.status != http.StatusAccepted {
		p.skip("not supported: the server answers %s synchronously, also with Prefer: respond-async", method)
	}
	return p.settled(path, answer)
}

// sendOnly sends a request as it is.
func (p *probe) sendOnly(method, path, body string, headers ...string) *reply {
	answer, err := p.suite.send(p.ctx, method, path, body, headers...)
	p.sent(err, &reply{method: method, url: p.base + path, sent: body, extra: headers})
	return answer
}

// sent ends the check if a request was not sent, or not answered.
func (p *probe) sent(err error, request *reply) {
	if refused := (*notSent)(nil); errors.As(err, &refused) {
		p.skip("%v", err)
	}
	if broken := (*mistake)(nil); errors.As(err, &broken) {
		p.fail(broken.answer, broken.expected, "%s", broken.got)
	}
	if err != nil {
		p.fail(request, "an answer", "%v", err)
	}
}

func (p *probe) get(path string, headers ...string) *reply {
	return p.send(http.MethodGet, path, "", headers...)
}

// list asks for the collection with a query.
func (p *probe) list(query string, headers ...string) *reply {
	path := p.collection.path()
	if query != "" {
		path += "?" + query
	}
	return p.get(path, headers...)
}

// all reads everything that a query selects.
func (p *probe) all(path, query string) []resource {
	resources, err := p.readAll(path, query)
	if failed := (*unreadable)(nil); errors.As(err, &failed) {
		p.fail(failed.answer, "a success (2xx)", "%s", failed.answer.summary())
	}
	if err != nil {
		p.fail(&reply{method: http.MethodGet, url: p.base + path + "?" + query}, "an answer", "%v", err)
	}
	return resources
}

// ok fails unless the response is a success.
func (p *probe) ok(r *reply) *reply {
	if !r.succeeded() {
		p.fail(r, "a success (2xx)", "%s", r.summary())
	}
	return r
}

// status fails unless a response has one of some statuses.
func (p *probe) status(r *reply, want ...int) *reply {
	if !slices.Contains(want, r.status) {
		p.fail(r, "status "+joinInts(want, " or "), "%s", r.summary())
	}
	return r
}

func joinInts(numbers []int, separator string) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, separator)
}

// positions fails unless a response has the resources at these positions, in this order.
func (p *probe) positions(r *reply, want []int) {
	if got := p.positionsOf(p.ok(r).resources()); !slices.Equal(got, want) {
		p.fail(r, describe(want), "%s", describe(got))
	}
}

// inAnyOrder is positions for a range with a negative limit, whose order
// range.negative-limit-order checks.
func (p *probe) inAnyOrder(r *reply, want []int) {
	got := p.positionsOf(p.ok(r).resources())
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.fail(r, describe(want), "%s", describe(got))
	}
}

// need skips the check unless the collection has so many resources.
func (p *probe) need(count int) {
	if len(p.reference) < count {
		p.skip("the collection has %d resources, and %d are needed", len(p.reference), count)
	}
}

// item is the path of the resource at a position.
func (p *probe) item(position int) string {
	p.need(position + 1)
	return p.collection.path() + "/" + p.reference[position].id()
}

// attribute is the first attribute that fits, of those that have values in this collection.
func (p *probe) attribute(what string, fits func(attribute) bool) attribute {
	a, found := p.collection.find(fits)
	if !found {
		p.skip("the collection has no %s", what)
	}
	return a
}

// body is the body of a new resource, with changes: members that are set, or
// left out where they are nothing.
func (p *probe) body(changes map[string]any) string { return encodeJSON(p.newMembers(changes)) }

// nothing removes a member from a body; null is a value.
type nothing struct{}

func (p *probe) newMembers(changes map[string]any) map[string]any {
	p.counter++
	members, err := p.members(p.collection, p.counter)
	if err != nil {
		p.skip("%v", err)
	}
	for name, value := range changes {
		members[name] = value
		if _, out := value.(nothing); out {
			delete(members, name)
		}
	}
	return members
}

// whole is a body with a value for every attribute for which one is known.
func (p *probe) whole() map[string]any {
	members := p.newMembers(nil)
	for _, a := range p.collection.Attributes {
		if members[a.Name] == nil && a.References == "" {
			if value, ok := p.changed(p.collection, a, nil); ok {
				members[a.Name] = value
			}
		}
	}
	return members
}

// post creates a resource.
func (p *probe) post(body string) *reply {
	return p.send(http.MethodPost, p.collection.path(), body)
}

// create creates a resource and reads it.
func (p *probe) create() (path string, before resource) {
	created := p.ok(p.settled(p.collection.path(), p.post(encodeJSON(p.whole()))))
	path = p.collection.path() + "/" + created.createdID()
	return path, p.ok(p.get(path)).resource()
}

// change is an attribute that can be changed, and a new value for it.
func (p *probe) change(now resource) (name string, value any) {
	name, value, found := p.maybeChange(now)
	if !found {
		p.skip("no attribute is known that can be changed")
	}
	return name, value
}

func (p *probe) maybeChange(now resource) (name string, value any, found bool) {
	for _, a := range p.collection.Attributes {
		if value, ok := p.changed(p.collection, a, now.members[a.Name]); ok {
			return a.Name, value, true
		}
	}
	return "", nil, false
}

// one is a body with a single member.
func one(name string, value any) string { return encodeJSON(map[string]any{name: value}) }

// unknownID is an id that nothing has.
func (p *probe) unknownID() string { return p.collection.path() + "/" + newUUID() }
