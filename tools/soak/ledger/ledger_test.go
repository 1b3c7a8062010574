//go:build linux

package ledger

import (
	"fmt"
	"slices"
	"testing"
)

// What was sent once more comes behind what was seen in between.
func TestLedgerKeepsTheOrderOfSending(t *testing.T) {
	var l Ledger
	first, second := create(Unknown, "a", "1"), create(Done, "b", "2")
	l.Enter(first)
	l.Enter(second)
	l.Enter(first)
	if got := l.Requests(); !slices.Equal(got, []*Request{second, first}) {
		t.Error(got)
	}
}

// What an answer says about a request, and about the resources that it is about.
func TestAnswersUpdateTheRequest(t *testing.T) {
	thing := func(id, token, text string) string {
		return fmt.Sprintf(`{"id":%q,"type":"things","token":%q,"text":%q}`, id, token, text)
	}
	whole, torn := thing("x", "1", Text("1")), thing("x", "1", "other")
	for _, c := range []struct {
		name     string
		request  *Request
		answers  []Answer
		failures []Answer
		want     string
	}{
		{"created", create(Unknown, "", "1"), []Answer{{Status: 201, Body: `{"data":` + whole + `}`}}, nil, "done x " + whole},
		{"an array", array(Unknown, "=1", "y=2"), []Answer{{Status: 201, Body: `{"data":[` + whole + `,` + thing("y", "2", Text("2")) + `]}`}}, nil,
			"done x " + whole + " y " + thing("y", "2", Text("2"))},
		{"deleted", remove(Unknown, "x"), []Answer{{Status: 200, Body: `{"data":` + whole + `}`}}, nil, "done x "},
		{"accepted", create(Unknown, "", "1"), []Answer{{Status: 202, Location: "/operations/1", Body: `{"data":{"id":"x","type":"things"}}`}}, nil,
			"accepted x  /operations/1"},
		{"refused", create(Unknown, "x", "1"), []Answer{{Status: 409}}, nil, "refused x "},
		{"failed", create(Unknown, "x", "1"), nil, []Answer{{Status: 503}}, "unknown x "},
		{"no room", create(Unknown, "x", "1"), nil, []Answer{{Status: 503, Body: `{"errors":[{"code":"storage_full"}]}`}}, "refused x "},
		{"no room, and it will be tried again", create(Unknown, "x", "1").with(func(r *Request) { r.Keyed = true }), nil,
			[]Answer{{Status: 503, Body: `{"errors":[{"code":"storage_full"}]}`}}, "unknown x "},

		{"too much said in a 202", create(Unknown, "x", "1"), []Answer{{Status: 202, Body: `{"data":` + whole + `}`}}, nil,
			`accepted x  mismatch: answered {"data":` + whole + `}, and not {"data":{"id":"x","type":"things"}}`},
		{"too few", array(Unknown, "=1", "=2"), []Answer{{Status: 201, Body: `{"data":[` + whole + `]}`}}, nil,
			`done     mismatch: answered with 1 resources: {"data":[` + whole + `]}`},
		{"torn", create(Unknown, "x", "1"), []Answer{{Status: 201, Body: `{"data":` + torn + `}`}}, nil,
			"done x " + torn + " mismatch: answered with another resource: " + torn},
		{"another", create(Unknown, "y", "1"), []Answer{{Status: 201, Body: `{"data":` + whole + `}`}}, nil,
			"done y " + whole + " mismatch: answered with another resource: " + whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.request
			r.Answer(c.answers, c.failures, 1)
			got := r.Outcome.String()
			for _, e := range r.Effects {
				got += " " + e.Ref.ID + " " + e.Want
			}
			if r.Operation != "" {
				got += " " + r.Operation
			}
			if r.Mismatch != "" {
				got += " mismatch: " + r.Mismatch
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The first answer decides, and a later one does not change it.
func TestFirstAnswerIsFinal(t *testing.T) {
	r := create(Unknown, "x", "1")
	r.Answer([]Answer{{Status: 409}}, nil, 1)
	r.Answer([]Answer{{Status: 201}}, nil, 2)
	if r.Outcome != Refused || r.Over != 1 || len(r.Answers) != 2 {
		t.Errorf("%+v", r)
	}
}
