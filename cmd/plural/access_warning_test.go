package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestCreateThatAlwaysFails: plural can says so, the server warns of it, and it is true.
func TestCreateThatAlwaysFails(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, `
collections:
  boxes: {}
  things:
    attributes: {org: {type: string}}
    required: [box_id]
    parent: boxes
access:
  roles:
    public:
      boxes: [list, read, create]
      things: {list: true, read: true, create: true, writable: [org]}
    member: {things: {list: true, read: resource.org == auth.claims.org}}
`)
	runs(t, dir, "", true, "- public is granted create in things\n- every create fails: box_id is required, has no default, and is not writable for public\n- create has no rule: every resource\nno\n",
		"can", "public", "create", "things")
	p := serveIn(t, dir)
	const box = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	post(t, p.base+"/boxes", `{"id":"`+box+`"}`)
	for _, c := range []struct{ path, body string }{{"/things", `{"org":"a"}`}, {"/things", `{"box_id":"` + box + `"}`}, {"/boxes/" + box + "/things", `{}`}, {"/boxes/" + box + "/things", `{"box_id":"` + box + `"}`}} {
		if got := send(t, p.base+c.path, c.body); !strings.HasPrefix(got, "422 ") {
			t.Errorf("%s %s: %s", c.path, c.body, got)
		}
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"public is granted create in things, but every create fails: box_id is required, has no default, and is not writable for the role",
		"member, things, read: org can be null in things, and is compared with auth.claims.org",
	} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("there is no warning %q in\n%s", want, p.log)
		}
	}
}

// TestChildrenOfHiddenParents: the server warns, plural can says so, and it is true: a line
// of a hidden order is in /lines.
func TestChildrenOfHiddenParents(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, `
collections:
  orders: {attributes: {secret: {type: boolean}}}
  lines: {parent: orders}
access:
  roles:
    public:
      orders: {list: true, read: "!resource.secret", create: "true"}
      lines: [list, read]
`)
	const order, line = "01936f2e-7d3c-7a4b-9c5d-0123456789ab", "01936f2e-7d3c-7a4b-9c5d-0123456789ac"
	runs(t, dir, `{"id":"`+order+`","secret":true}`, false, "Imported 1 row into plural.db.\n", "import", "orders")
	runs(t, dir, `{"id":"`+line+`","order_id":"`+order+`"}`, false, "Imported 1 row into plural.db.\n", "import", "lines")
	runs(t, dir, "", false, "- public is granted list in lines\n- read has no rule: every resource\n- the read rule of orders does not apply to lines: public sees those of hidden parents too\nyes\n",
		"can", "public", "list", "lines")
	p := serveIn(t, dir)
	if got := get(t, p.base+"/orders/"+order+"/lines"); !strings.HasPrefix(got, "404 ") {
		t.Errorf("the lines of the hidden order: %s", got)
	}
	if got := get(t, p.base+"/lines"); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, line) {
		t.Errorf("all lines: %s", got)
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if want := "public sees only some of orders, by a rule, but all of lines"; !strings.Contains(p.log.String(), want) {
		t.Errorf("there is no warning %q in\n%s", want, p.log)
	}
}

// send posts a body, and returns the status and the body of the answer.
func send(t *testing.T, url, body string) string {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(response.StatusCode, " ", string(text))
}
