package suite

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const ContentType = "application/json;charset=utf-8"

// EqualMembers compares representations. It ignores the case of ids, and members that are null in
// one and missing in the other: other checks look at these.
func EqualMembers(a, b Resource) bool {
	for _, name := range slices.Concat(a.Order, b.Order) {
		if name != "id" && !EqualJSON(a.Members[name], b.Members[name]) {
			return false
		}
	}
	return true
}

// Writes creates a resource, changes it and replaces it.
func (p *Probe) Writes() []*Reply {
	created := p.Synchronous(p.Post(p.Body(nil)))
	path := p.Collection.PathOf(created.CreatedID())
	replaced := p.Synchronous(p.Put(path, EncodeJSON(p.Kept(created.Resource(), p.NewMembers(nil)))))
	answers := []*Reply{created, replaced}
	if name, value, found := p.MaybeChange(replaced.Resource()); found {
		answers = append(answers, p.Synchronous(p.Patch(path, One(name, value))))
	}
	return answers
}

func (p *Probe) ContentType(r *Reply) {
	got := strings.Join(r.Header.Values("Content-Type"), ", ")
	p.FailIf(got != ContentType, r, "Content-Type: "+ContentType, "%q", got)
}

// LeadsTo fails unless a header has the URL of a path.
func (p *Probe) LeadsTo(r *Reply, header, path string) {
	given, want := r.Header.Get(header), p.Base+path
	p.FailIf(given == "" || !strings.EqualFold(r.Target(given), want), r, header+": "+want, "%q", given)
}

// OnlyMember fails if the body has members besides one. Other checks fail if it lacks that one.
func (p *Probe) OnlyMember(r *Reply, name string) {
	members := r.Members()
	_, has := members[name]
	p.SkipIf(!has, "the body has no member %s (see envelope.data)", name)
	for other := range members {
		p.FailIf(other != name, r, "the member "+name+" alone", "also the member %q", other)
	}
}

// DataIs looks at the first character of data.
func (p *Probe) DataIs(r *Reply, first byte, what string) {
	data, has := p.OK(r).Members()["data"]
	p.SkipIf(!has, "the body has no member data (see envelope.data)")
	p.FailIf(data[0] != first, r, "data is "+what, "%s", r.Summary())
}

// Refusals are failures that a read can have.
func (p *Probe) Refusals() []*Reply {
	return []*Reply{p.Get(p.UnknownID()), p.List("limit=ten"), p.List("", "Accept", "text/plain"), p.Get("/" + p.Collection.Name + "-" + NewTag())}
}

// Errors are the error objects of a response. If there are none, envelope.errors or the check of
// the refusal fails.
func (p *Probe) Errors(r *Reply) []map[string]any {
	var objects []map[string]any
	list, _ := DecodeJSON(r.Members()["errors"]).([]any)
	for _, each := range list {
		if object, ok := each.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	p.SkipIf(len(objects) == 0, "there are no errors to look at (see envelope.errors): %s %s", r.Method, r.URL)
	return objects
}

func (p *Probe) Source(r *Reply, member, want string) {
	objects := p.Errors(r)
	for _, each := range objects {
		source, _ := each["source"].(map[string]any)
		if got, _ := source[member].(string); got == want || member == "header" && strings.EqualFold(got, want) {
			return
		}
	}
	p.Fail(r, `"source":{"`+member+`":"`+want+`"}`, "%s", r.Summary())
}

var (
	UUIDForm      = regexp.MustCompile(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	TimestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	Timestamps    = []string{"created_at", "updated_at"}
)

// Each calls a function with the resources of a list, and with one that is read alone.
func (p *Probe) Each(look func(*Reply, Resource)) {
	p.need(1)
	list := p.OK(p.List("limit=20"))
	for _, each := range list.Resources() {
		look(list, each)
	}
	alone := p.OK(p.Get(p.Item(0)))
	look(alone, alone.Resource())
}

// EachTimestamp skips collections that have none.
func (p *Probe) EachTimestamp(look func(r *Reply, name, text string)) {
	found := false
	p.Each(func(r *Reply, each Resource) {
		for _, name := range Timestamps {
			if each.Has(name) {
				found = true
				look(r, name, each.Text(name))
			}
		}
	})
	p.SkipIf(!found, "the collection has no timestamps")
}

func (p *Probe) FirstReference() string {
	p.need(1)
	return p.Reference[0].ID()
}

// Singular is the path of the first resource under the singular.
func (p *Probe) Singular() string {
	p.SkipIf(p.Collection.Singular == "", "the singular is not known, as the server does not describe the collection at GET /")
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

// AllowsReads fails unless Allow has the methods of a read.
func (p *Probe) AllowsReads(r *Reply) {
	var allowed []string
	for _, line := range r.Header.Values("Allow") {
		for method := range strings.SplitSeq(line, ",") {
			allowed = append(allowed, strings.TrimSpace(method))
		}
	}
	reads := slices.Contains(allowed, http.MethodGet) && slices.Contains(allowed, http.MethodHead)
	p.FailIf(!reads, r, "Allow with GET, HEAD", "%q", strings.Join(allowed, ", "))
}
