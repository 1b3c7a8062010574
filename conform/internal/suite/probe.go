package suite

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Probe has the methods that checks use. A method that fails ends the check.
type Probe struct {
	*Suite
	check Check
}

// Fail ends the check: the server violates the rule.
func (p *Probe) Fail(r *Reply, expected, got string, args ...any) {
	panic(outcome{Failure: &failure{Request: r.request(), Expected: expected, Got: fmt.Sprintf(got, args...)}})
}

// FailIf ends the check if the server violates the rule.
func (p *Probe) FailIf(violated bool, r *Reply, expected, got string, args ...any) {
	if violated {
		p.Fail(r, expected, got, args...)
	}
}

// Skip ends the check: this server gives no way to test the rule.
func (p *Probe) Skip(reason string, args ...any) {
	panic(outcome{Skipped: fmt.Sprintf(reason, args...)})
}

// SkipIf ends the check if this server gives no way to test the rule.
func (p *Probe) SkipIf(impossible bool, reason string, args ...any) {
	if impossible {
		p.Skip(reason, args...)
	}
}

// Send sends a request. If a write is accepted for later, it waits for the operation and returns the
// response that a synchronous write would have had, unless the check tests the response itself. In
// an asynchronous run it asks for asynchronous execution.
func (p *Probe) Send(method, path, body string, headers ...string) *Reply {
	if p.check.Synchronous != "" || !isWriteOfOne(method, body) {
		return p.SendOnly(method, path, body, headers...)
	}
	if !p.options.Async {
		return p.settled(path, p.SendOnly(method, path, body, headers...))
	}
	answer := p.Prefer("respond-async", method, path, body, headers...)
	p.SkipIf(answer.Succeeded() && answer.Status != http.StatusAccepted, "not supported: the server answers %s synchronously, also with Prefer: respond-async", method)
	return p.settled(path, answer)
}

// SendOnly sends a request as it is.
func (p *Probe) SendOnly(method, path, body string, headers ...string) *Reply {
	answer, err := p.Suite.send(p.Ctx, method, path, body, headers...)
	p.sent(err, p.newRequest(method, path, body, headers))
	return answer
}

// sent ends the check if a request was not sent, or not answered.
func (p *Probe) sent(err error, request *Reply) {
	if refused := (*notSent)(nil); errors.As(err, &refused) {
		p.Skip("%v", err)
	}
	if broken := (*mistake)(nil); errors.As(err, &broken) {
		p.Fail(broken.answer, broken.expected, "%s", broken.got)
	}
	p.FailIf(err != nil, request, "an answer", "%v", err)
}

func (p *Probe) Get(path string, headers ...string) *Reply {
	return p.Send(http.MethodGet, path, "", headers...)
}

// List asks for the collection with a query.
func (p *Probe) List(query string, headers ...string) *Reply {
	path := p.Collection.Path()
	if query != "" {
		path += "?" + query
	}
	return p.Get(path, headers...)
}

// All reads everything of the collection that a query selects.
func (p *Probe) All(query string) []Resource {
	path := p.Collection.Path()
	resources, err := p.readAll(path, query)
	if failed := (*unreadable)(nil); errors.As(err, &failed) {
		p.Fail(failed.answer, "a success (2xx)", "%s", failed.answer.Summary())
	}
	p.FailIf(err != nil, p.newRequest(http.MethodGet, path+"?"+query, "", nil), "an answer", "%v", err)
	return resources
}

// OK fails unless the response is a success. A body that rules of the data refuse is no failure.
func (p *Probe) OK(r *Reply) *Reply {
	if !r.Succeeded() {
		p.skipIfRuledOut(r)
		p.Fail(r, "a success (2xx)", "%s", r.Summary())
	}
	return r
}

// Status fails unless a response has one of some statuses. A body that rules of the data refuse is no
// failure.
func (p *Probe) Status(r *Reply, want ...int) *Reply {
	if !slices.Contains(want, r.Status) {
		p.skipIfRuledOut(r)
		var wanted []string
		for _, status := range want {
			wanted = append(wanted, strconv.Itoa(status))
		}
		p.Fail(r, "status "+strings.Join(wanted, " or "), "%s", r.Summary())
	}
	return r
}

func (p *Probe) skipIfRuledOut(r *Reply) {
	reason := p.ruledOut(r)
	p.SkipIf(reason != "", "%s", reason)
}

// HasIDs fails unless a response has the resources of these ids, in this order.
func (p *Probe) HasIDs(r *Reply, want []string) {
	got := r.IDs()
	p.FailIf(!slices.Equal(got, want), r, "the resources "+EncodeJSON(want), "%s", EncodeJSON(got))
}

// Positions fails unless a response has the resources at these positions, in this order.
func (p *Probe) Positions(r *Reply, want []int) {
	got := p.PositionsOf(p.OK(r).Resources())
	p.FailIf(!slices.Equal(got, want), r, Describe(want), "%s", Describe(got))
}

// InAnyOrder is positions for a range with a negative limit, whose order
// range.negative-limit-order checks.
func (p *Probe) InAnyOrder(r *Reply, want []int) {
	got := p.PositionsOf(p.OK(r).Resources())
	slices.Sort(got)
	p.FailIf(!slices.Equal(got, want), r, Describe(want), "%s", Describe(got))
}

// need skips the check unless the collection has so many resources.
func (p *Probe) need(count int) {
	p.SkipIf(len(p.Reference) < count, "the collection has %d resources, and %d are needed", len(p.Reference), count)
}

// Item is the path of the resource at a position.
func (p *Probe) Item(position int) string {
	p.need(position + 1)
	return p.Collection.PathOf(p.Reference[position].ID())
}

// Attribute is the first attribute that fits; for a check that writes, of those that can have any value at any time.
func (p *Probe) Attribute(what string, fits func(Attribute) bool) Attribute {
	return p.Ruled(what, func(a Attribute) bool { return (a.free() || !p.check.Writes) && fits(a) })
}

// Body is the body of a new resource, with changes: members that are set, or
// left out where they are nothing.
func (p *Probe) Body(changes map[string]any) string { return EncodeJSON(p.NewMembers(changes)) }

// Nothing removes a member from a body; null is a value.
type Nothing struct{}

func (p *Probe) NewMembers(changes map[string]any) map[string]any {
	return p.membersOf(p.Collection, changes)
}

func (p *Probe) membersOf(c Collection, changes map[string]any) map[string]any {
	members, err := p.Members(c)
	p.SkipIf(err != nil, "%v", err)
	for name, value := range changes {
		members[name] = value
		if _, out := value.(Nothing); out {
			delete(members, name)
		}
	}
	return members
}

// Whole is a body with a value for every attribute for which one is known.
func (p *Probe) Whole() map[string]any {
	members := p.NewMembers(nil)
	for _, a := range p.Collection.Attributes {
		if members[a.Name] == nil && a.References == "" {
			if value, ok := p.changed(p.Collection, a, nil); ok {
				members[a.Name] = value
			}
		}
	}
	return members
}

// Post creates a resource.
func (p *Probe) Post(body string) *Reply {
	return p.Send(http.MethodPost, p.Collection.Path(), body)
}

// Patch changes a resource.
func (p *Probe) Patch(path, body string) *Reply { return p.Send(http.MethodPatch, path, body) }

// Put replaces a resource.
func (p *Probe) Put(path, body string) *Reply { return p.Send(http.MethodPut, path, body) }

// Delete deletes a resource.
func (p *Probe) Delete(path string) *Reply { return p.Send(http.MethodDelete, path, "") }

// Create creates a resource and reads it.
func (p *Probe) Create() (path string, before Resource) {
	created := p.OK(p.settled(p.Collection.Path(), p.Post(EncodeJSON(p.Whole()))))
	path = p.Collection.PathOf(created.CreatedID())
	return path, p.OK(p.Get(path)).Resource()
}

// Change is an attribute that can be changed, and a new value for it.
func (p *Probe) Change(now Resource) (name string, value any) {
	name, value, found := p.MaybeChange(now)
	p.SkipIf(!found, "no attribute is known that can be changed")
	return name, value
}

func (p *Probe) MaybeChange(now Resource) (name string, value any, found bool) {
	for _, a := range p.Collection.Attributes {
		if value, ok := p.changed(p.Collection, a, now.Members[a.Name]); ok {
			return a.Name, value, true
		}
	}
	return "", nil, false
}

// One is a body with a single member.
func One(name string, value any) string { return EncodeJSON(map[string]any{name: value}) }

// UnknownID is an id that nothing has.
func (p *Probe) UnknownID() string { return p.Collection.PathOf(NewUUID()) }
