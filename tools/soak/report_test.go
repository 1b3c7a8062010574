//go:build linux

package soak

import (
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

func TestReport(t *testing.T) {
	lost := &ledger.Request{
		Writer: 3, Kind: ledger.Create, Outcome: ledger.Done, Sent: "POST /things {}", Call: time.Millisecond, Over: 2 * time.Millisecond,
		Answers: []ledger.Answer{{Status: 201, Location: "/things/1", ETag: `"1"`, Body: `{"data":{}}`}},
	}
	r := &Run{Crashes: []string{"kill -9", "power cut: during a sync"}, Findings: []ledger.Violation{
		{Fault: ledger.Lost, Request: lost, Text: "not there"},
		{Fault: ledger.Wrong, Text: "a total"},
	}}
	for _, request := range []*ledger.Request{
		lost,
		{Kind: ledger.Create, Outcome: ledger.Unknown},
		{Kind: ledger.Create, Keyed: true, Outcome: ledger.Refused, Answers: []ledger.Answer{{Status: 409}, {Status: 409}}},
		{Kind: ledger.Put.Async(), Outcome: ledger.Accepted, Operation: "/operations/1"},
		{Kind: ledger.Seen, Outcome: ledger.Done},
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
