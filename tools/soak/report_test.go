//go:build linux

package soak

import (
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	lost := &Request{
		Writer: 3, Kind: Create, Outcome: Done, Sent: "POST /things {}", Call: time.Millisecond, Over: 2 * time.Millisecond,
		Answers: []Answer{{Status: 201, Location: "/things/1", ETag: `"1"`, Body: `{"data":{}}`}},
	}
	r := &Run{Crashes: []string{"kill -9", "power cut: during a sync"}, Findings: []Violation{
		{Fault: Lost, Request: lost, Text: "not there"},
		{Fault: Wrong, Text: "a total"},
	}}
	for _, request := range []*Request{
		lost,
		{Kind: Create, Outcome: Unknown},
		{Kind: Create, Keyed: true, Outcome: Refused, Answers: []Answer{{Status: 409}, {Status: 409}}},
		{Kind: Put.Async(), Outcome: Accepted, Operation: "/operations/1"},
		{Kind: Seen, Outcome: Done},
	} {
		r.ledger.Enter(request)
	}
	var report Report
	report.Add(r)
	report.Add(&Run{Crashes: []string{"kill -9"}})
	var out strings.Builder
	report.Print(&out)
	want := `2 databases, 2 × kill -9, 1 × power cut
  sent  acknowledged  refused  no answer  with key  again  lost  doubled  half-done  wrong  kind
     1             1        0          0         0      0     0        0          0      0  async PUT
     3             1        1          1         1      1     1        0          0      0  create
     0             0        0          0         0      0     0        0          0      1  nobody's
     4             2        1          1         1      1     1        0          0      1  all

LOST: not there
  line 1, writer 3, from 1ms to 2ms: create, done
    sent: POST /things {}
    answered: 201 Location: /things/1 ETag: "1" {"data":{}}

WRONG: a total
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if report.Acknowledged() != 2 {
		t.Error(report.Acknowledged())
	}
}
