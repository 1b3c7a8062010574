//go:build linux

package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A history is written as requests and what was found, and the violations that
// the checker must report, each as fault and kind of request.
type history struct {
	name     string
	requests []*Request
	found    *Observed
	want     []string
}

func ref(id string) Ref { return Ref{"things", id} }

func create(outcome Outcome, id, token string) *Request {
	return &Request{Kind: Create, Outcome: outcome, Effects: []Effect{{Ref: ref(id), Change: Created, Token: token}}}
}

func update(outcome Outcome, id, token string) *Request {
	return &Request{Kind: Patch, Outcome: outcome, Effects: []Effect{{Ref: ref(id), Change: Updated, Token: token}}}
}

func remove(outcome Outcome, ids ...string) *Request {
	r := &Request{Kind: Delete, Outcome: outcome}
	for _, id := range ids {
		r.Effects = append(r.Effects, Effect{Ref: ref(id), Change: Deleted})
	}
	return r
}

func array(outcome Outcome, names ...string) *Request {
	r := &Request{Kind: CreateArray, Outcome: outcome}
	for _, name := range names {
		id, token, _ := strings.Cut(name, "=")
		r.Effects = append(r.Effects, Effect{Ref: ref(id), Change: Created, Token: token})
	}
	return r
}

func (r *Request) answered(statuses ...int) *Request {
	for i, status := range statuses {
		r.Answers = append(r.Answers, Answer{Status: status, Body: "body", Replayed: i > 0})
	}
	return r
}

func (r *Request) with(change func(*Request)) *Request {
	change(r)
	return r
}

// found is resources as "id=token" and changes as "created id=token".
func found(things string, changes ...string) *Observed {
	o := &Observed{Resources: map[Ref]Value{}}
	for _, thing := range strings.Fields(things) {
		id, token, _ := strings.Cut(thing, "=")
		o.Resources[ref(id)] = Value{Token: token, Representation: "{" + token + "}"}
	}
	for _, change := range changes {
		kind, thing, _ := strings.Cut(change, " ")
		id, token, _ := strings.Cut(thing, "=")
		o.Changes = append(o.Changes, Change{ref(id), kind, token})
	}
	return o
}

var histories = []history{
	// What is right.
	{"nothing", nil, found(""), nil},
	{"a value and its successor", []*Request{create(Done, "a", "1"), update(Done, "a", "2")}, found("a=2", "created a=1", "updated a=2"), nil},
	{"deleted", []*Request{create(Done, "a", "1"), remove(Done, "a")}, found("", "created a=1", "deleted a=1"), nil},
	{"unknown, done", []*Request{create(Unknown, "a", "1")}, found("a=1", "created a=1"), nil},
	{"unknown, not done", []*Request{create(Unknown, "a", "1")}, found(""), nil},
	{"unknown update, done", []*Request{create(Done, "a", "1"), update(Unknown, "a", "2")}, found("a=2"), nil},
	{"unknown update, not done", []*Request{create(Done, "a", "1"), update(Unknown, "a", "2")}, found("a=1"), nil},
	{"unknown deletion, done", []*Request{create(Done, "a", "1"), remove(Unknown, "a")}, found(""), nil},
	{"unknown array, done", []*Request{array(Unknown, "a=1", "b=2")}, found("a=1 b=2", "created a=1", "created b=2"), nil},
	{"unknown array with minted ids, done", []*Request{array(Unknown, "=1", "=2")}, found("x=1 y=2", "created x=1", "created y=2"), nil},
	{"unknown array, not done", []*Request{array(Unknown, "a=1", "=2")}, found(""), nil},
	{"accepted, not done yet", []*Request{create(Accepted, "a", "1"), update(Accepted, "a", "2")}, found(""), nil},
	{"accepted, both done", []*Request{create(Accepted, "a", "1"), update(Accepted, "a", "2")}, found("a=2", "created a=1", "updated a=2"), nil},
	{"refused as it may be", []*Request{create(Refused, "a", "1").answered(409).with(func(r *Request) { r.MayFail = []int{409} })}, found(""), nil},
	{"an operation failed as it may", []*Request{create(Refused, "a", "1").answered(202).with(func(r *Request) {
		r.Failure, r.MayFail = &Answer{Status: 412}, []int{412}
	})}, found(""), nil},
	{"unknown, seen, and then overwritten", []*Request{create(Done, "a", "1"), update(Unknown, "a", "2"),
		{Kind: Seen, Outcome: Done, Effects: []Effect{{Ref: ref("a"), Change: seen, Token: "1"}}}}, found("a=1", "created a=1"), nil},
	{"repeated", []*Request{create(Done, "a", "1").answered(201, 201, 201)}, found("a=1"), nil},
	{"shared, any of them last", []*Request{
		create(Done, "a", "1").with(shared), update(Done, "a", "2").with(shared), update(Unknown, "a", "3").with(shared)}, found("a=2"), nil},

	// Losses.
	{"a lost creation", []*Request{create(Done, "a", "1")}, found(""), []string{"lost create"}},
	{"a lost update", []*Request{create(Done, "a", "1"), update(Done, "a", "2")}, found("a=1"), []string{"lost PATCH with If-Match"}},
	{"a lost update after an unknown one", []*Request{create(Done, "a", "1"), update(Done, "a", "2"), update(Unknown, "a", "3")}, found("a=1"),
		[]string{"lost PATCH with If-Match"}},
	{"a lost deletion", []*Request{create(Done, "a", "1"), remove(Done, "a")}, found("a=1"), []string{"lost DELETE with cascade"}},
	{"what was seen is lost", []*Request{create(Done, "a", "1"), update(Unknown, "a", "2"),
		{Kind: Seen, Outcome: Done, Effects: []Effect{{Ref: ref("a"), Change: seen, Token: "2"}}}}, found("a=1"), []string{"lost seen"}},
	{"one of an array is lost", []*Request{array(Done, "a=1", "b=2")}, found("a=1"), []string{"lost create an array"}},
	{"not in the change log", []*Request{create(Done, "a", "1")}, found("a=1", "created b=0"),
		[]string{"lost create", "wrong -"}},
	{"shared, and lost", []*Request{create(Done, "a", "1").with(shared)}, found(""), []string{"lost create"}},

	// Doubles.
	{"twice in the change log", []*Request{create(Done, "a", "1"), update(Done, "a", "2")}, found("a=2", "created a=1", "updated a=2", "updated a=2"),
		[]string{"doubled PATCH with If-Match"}},
	{"minted twice", []*Request{create(Unknown, "", "1")}, found("x=1 y=1"), []string{"doubled create"}},
	{"minted once more", []*Request{create(Done, "x", "1")}, found("x=1 y=1"), []string{"doubled create"}},
	{"minted once more, by the change log", []*Request{create(Done, "x", "1")}, found("x=1", "created x=1", "created y=1"), []string{"doubled create"}},
	{"minted twice, by the change log", []*Request{create(Unknown, "", "1")}, found("x=1", "created x=1", "created y=1"), []string{"doubled create"}},

	// Halves.
	{"half an array", []*Request{array(Unknown, "a=1", "b=2")}, found("a=1"), []string{"half-done create an array"}},
	{"half an array with minted ids", []*Request{array(Unknown, "=1", "=2")}, found("a=1"), []string{"half-done create an array"}},
	{"half an array, by the change log", []*Request{array(Unknown, "=1", "=2")}, found("a=1", "created a=1"),
		[]string{"half-done create an array", "half-done create an array"}},
	{"half a cascade", []*Request{create(Done, "a", "1"), create(Done, "b", "2"), remove(Unknown, "a", "b")}, found("b=2"),
		[]string{"half-done DELETE with cascade"}},
	{"another value than was acknowledged", []*Request{create(Done, "a", "1").with(func(r *Request) { r.Effects[0].Want = "{other}" })}, found("a=1"),
		[]string{"half-done create"}},
	{"torn", []*Request{create(Done, "a", "1")}, &Observed{Resources: map[Ref]Value{ref("a"): {Token: "1", Torn: true}}}, []string{"half-done create"}},

	// Everything else.
	{"nobody asked for it", nil, found("a=1"), []string{"wrong -"}},
	{"nobody asked for the change", nil, found("", "created a=1"), []string{"wrong -"}},
	{"refused, and done", []*Request{create(Refused, "a", "1")}, found("a=1", "created a=1"), []string{"wrong -", "wrong create"}},
	{"refused for no reason", []*Request{create(Refused, "a", "1").answered(422)}, found(""), []string{"wrong create"}},
	{"an operation failed for no reason", []*Request{create(Refused, "a", "1").answered(202).with(func(r *Request) { r.Failure = &Answer{Status: 404} })},
		found(""), []string{"wrong create"}},
	{"a server error", []*Request{create(Unknown, "a", "1").with(func(r *Request) { r.Failures = []Answer{{Status: 500}} })}, found(""), []string{"wrong create"}},
	{"not refused", []*Request{create(Done, "a", "1"), update(Done, "a", "2").answered(200).with(func(r *Request) { r.MustFail = true })}, found("a=2"),
		[]string{"wrong PATCH with If-Match"}},
	{"an answer with something else", []*Request{create(Done, "a", "1").answered(201).with(func(r *Request) { r.Mismatch = "nonsense" })}, found("a=1"),
		[]string{"wrong create"}},
	{"neither old nor new", []*Request{create(Unknown, "a", "1")}, found("a=7"), []string{"wrong -"}},
	{"another answer when repeated", []*Request{create(Done, "a", "1").answered(201, 409)}, found("a=1"), []string{"wrong create"}},
	{"another ETag when repeated", []*Request{create(Done, "a", "1").answered(201, 201).with(func(r *Request) { r.Answers[1].ETag = "x" })}, found("a=1"),
		[]string{"wrong create"}},
	{"repeated, and not said so", []*Request{create(Done, "a", "1").answered(201, 201).with(func(r *Request) { r.Answers[1].Replayed = false })}, found("a=1"),
		[]string{"wrong create"}},
	{"shared, with a value of nobody", []*Request{create(Done, "a", "1").with(shared), update(Refused, "a", "2").with(shared)}, found("a=2"),
		[]string{"lost create"}},
}

func shared(r *Request) { r.Shared = true }

func TestCheck(t *testing.T) {
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			var got []string
			violations := Check(h.requests, h.found)
			for _, v := range violations {
				kind := Kind("-")
				if v.Request != nil {
					kind = v.Request.Kind
				}
				got = append(got, fmt.Sprintf("%s %s", v.Fault, kind))
			}
			slices.Sort(got)
			if !slices.Equal(got, h.want) {
				t.Errorf("got %q, want %q: %+v", got, h.want, violations)
			}
		})
	}
}

// What was found becomes certain where it was not, and nowhere else.
func TestOutcomesFoundInTheChangeLog(t *testing.T) {
	requests := []*Request{
		create(Done, "certain", "1"),
		create(Done, "a", "2"), update(Unknown, "a", "3"),
		create(Unknown, "b", "4"),
		create(Unknown, "", "5"),
		create(Done, "c", "6").with(shared), update(Done, "c", "7").with(shared),
	}
	got := Witness(requests, found("certain=1 a=3 minted=5 c=7"))
	slices.SortFunc(got.Effects, func(x, y Effect) int { return cmp.Compare(x.Ref.ID, y.Ref.ID) })
	want := []Effect{
		{Ref: ref("a"), Change: seen, Token: "3", Want: "{3}"},
		{Ref: ref("b"), Change: seen},
		{Ref: ref("minted"), Change: seen, Token: "5", Want: "{5}"},
	}
	if got.Kind != Seen || got.Outcome != Done || !slices.Equal(got.Effects, want) {
		t.Errorf("got %+v", got)
	}
	if got := Witness(append(requests, got), found("certain=1 a=3 minted=5 c=7")); got != nil {
		t.Errorf("once more: %+v", got)
	}
}
