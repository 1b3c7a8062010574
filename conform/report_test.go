package conform

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/conform/internal/suite"
)

// sampleReport has one check of each outcome.
func sampleReport() *Report {
	return &Report{
		BaseURL: "http://x.test", Collection: "users", Created: 3, Warnings: []string{"beware"}, Leftovers: []string{"/users/1"}, Elapsed: 1500 * time.Millisecond,
		Results: []Result{
			{Check: Check{ID: "a.good", Title: "good", Rule: "It is good.", Source: "convention: A", Convention: true}, Status: Passed, Elapsed: 20 * time.Millisecond},
			{Check: Check{ID: "a.bad-one", Title: "bad", Rule: "It is <good>.", Source: "interface: B", Writes: true}, Status: Failed,
				Failure: &Failure{Request: "POST http://x.test/users\n{\"a\":1}", Expected: "status 201", Got: "status 500 & nothing"}},
			{Check: Check{ID: "b.none", Title: "none", Rule: "It is.", Source: "errors: C"}, Status: Skipped, Reason: "no such thing"},
		},
	}
}

func TestWriteTable(t *testing.T) {
	var out strings.Builder
	if err := sampleReport().WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	want := `ok    a.good     good
FAIL  a.bad-one  bad
      rule      It is <good>. (interface: B)
      request   POST http://x.test/users
                {"a":1}
      expected  status 201
      got       status 500 & nothing
skip  b.none     none
      no such thing

http://x.test, collection users: 1 passed, 1 failed, 1 skipped
warning: beware
left behind, as it could not be deleted: /users/1
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWriteJSON(t *testing.T) {
	var out strings.Builder
	if err := sampleReport().WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var compact strings.Builder
	decoder := json.NewDecoder(strings.NewReader(out.String()))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	compact.WriteString(suite.EncodeJSON(raw))
	want := `{"base_url":"http://x.test","collection":"users","read_only":false,"convention_only":false,"async":false,"results":[` +
		`{"id":"a.good","title":"good","rule":"It is good.","source":"convention: A","convention":true,"writes":false,"status":"passed","elapsed_ns":20000000},` +
		`{"id":"a.bad-one","title":"bad","rule":"It is <good>.","source":"interface: B","convention":false,"writes":true,"status":"failed",` +
		`"failure":{"request":"POST http://x.test/users\n{\"a\":1}","expected":"status 201","got":"status 500 & nothing"},"elapsed_ns":0},` +
		`{"id":"b.none","title":"none","rule":"It is.","source":"errors: C","convention":false,"writes":false,"status":"skipped","reason":"no such thing","elapsed_ns":0}],` +
		`"warnings":["beware"],"created":3,"leftovers":["/users/1"],"elapsed_ns":1500000000,"passed":1,"failed":1,"skipped":1}`
	if got := compact.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWriteJUnit(t *testing.T) {
	var out strings.Builder
	if err := sampleReport().WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="conform" tests="3" failures="1" errors="0" skipped="1" time="1.500">
  <properties>
    <property name="base_url" value="http://x.test"></property>
    <property name="collection" value="users"></property>
    <property name="warning" value="beware"></property>
    <property name="leftover" value="/users/1"></property>
  </properties>
  <testcase classname="conform.a" name="a.good" time="0.020"></testcase>
  <testcase classname="conform.a" name="a.bad-one" time="0.000">
    <failure message="It is &lt;good&gt;. (interface: B)">request: POST http://x.test/users&#xA;{&#34;a&#34;:1}&#xA;expected: status 201&#xA;got: status 500 &amp; nothing</failure>
  </testcase>
  <testcase classname="conform.b" name="b.none" time="0.000">
    <skipped message="no such thing"></skipped>
  </testcase>
</testsuite>
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err := xml.Unmarshal([]byte(out.String()), new(struct{})); err != nil {
		t.Error(err)
	}
}
