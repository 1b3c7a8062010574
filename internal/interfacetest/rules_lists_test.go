package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	goclient "github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/move"
)

const memberFile = `
collections:
  members:
    timestamps: false
    label: full
    search: [full]
    attributes:
      first: {type: string, maxLength: 20}
      last: {type: string, maxLength: 20}
      full: {type: string, maxLength: 50, computed: resource.first + " " + resource.last, unique: true}
      fee: {type: string, format: decimal, scale: 2}
      due: {type: string, format: decimal, scale: 2, computed: resource.fee * 12, index: true}
      kind: {type: string, enum: [free, paid], computed: 'resource.fee > 0 ? "paid" : "free"'}
    checks:
      - {rule: resource.fee >= 0, message: A fee is not negative., attribute: fee}
`

// TestComputedAttributesAreLikeOthers: they are found, ordered, grouped, unique and logged as other attributes are.
func TestComputedAttributesAreLikeOthers(t *testing.T) {
	t.Parallel()
	withFile(t, memberFile, func(t *testing.T, s *server) {
		body := func(n int, first, last, fee string) string {
			return fmt.Sprintf(`{"id":"%s","first":"%s","last":"%s","fee":"%s"}`, id(n), first, last, fee)
		}
		s.createAll("/members", body(1, "Ada", "Lovelace", "0.00"), body(2, "Alan", "Turing", "2.50"), body(3, "Grace", "Hopper", "1.10"), body(4, "Ada", "Yonath", "2.50"))
		for path, want := range map[string][]int{
			"/members?search=ada":                                           {1, 4},
			"/members?search=lov+ada":                                       {1},
			"/members?filter[full][search]=hop":                             {3},
			"/members?filter[full]=Alan+Turing":                             {2},
			"/members?filter[due][gt]=13.2":                                 {2, 4},
			"/members?filter[any][0][kind]=free&filter[any][1][due][lt]=14": {1, 3},
			"/members?sort=-due,full":                                       {4, 2, 3, 1},
		} {
			s.get(path).expectPositions(t, path, want...)
		}
		groups := s.get("/-/groups/members?by=kind&sum=due&sort=kind")
		if got := groups.body; !strings.Contains(got, `"by":{"kind":"free"},"count":1,"sum":{"due":"0.00"}`) || !strings.Contains(got, `"by":{"kind":"paid"},"count":3,"sum":{"due":"73.20"}`) {
			t.Errorf("got %s", got)
		}
		s.do("POST", "/members", `{"first":"Ada","last":"Yonath"}`).expectErrors(t, 409, "not_unique /full")
		s.do("PATCH", "/members/"+id(1), `{"last":"Yonath"}`).expectErrors(t, 409, "not_unique /full")
		s.do("POST", "/members", `[{"first":"X","last":"Y"},{"first":"X","last":"Y"}]`).expectErrors(t, 409, "not_unique /1/full")
		s.do("POST", "/members?on_conflict=full", `{"first":"X"}`).expectErrors(t, 400, "invalid_parameter on_conflict")

		// What follows is found anew, and is a change as others are.
		events := s.stream("/changes?filter[collection]=members")
		for next, ok := events.next(); ok && next.kind != "synced"; next, ok = events.next() {
		}
		s.do("PATCH", "/members/"+id(1), `{"last":"Byron","fee":"3.00"}`)
		s.get("/members?search=lovelace").expectPositions(t, "the former words")
		s.get("/members?search=byron").expectPositions(t, "the new words", 1)
		previous := s.get("/members/" + id(1) + "/changes?limit=-1").previous(t)
		if want := map[string]string{"last": `"Lovelace"`, "full": `"Ada Lovelace"`, "fee": `"0.00"`, "due": `"0.00"`, "kind": `"free"`}; fmt.Sprint(previous) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", previous, want)
		}
		changed, _ := events.next()
		if want := `"previous":{"last":"Lovelace","full":"Ada Lovelace","fee":"0.00","due":"0.00","kind":"free"}`; !strings.Contains(changed.data, want) {
			t.Errorf("got %s", changed.data)
		}
	})
}

// TestRulesOfImports: an import obeys checks, and computes what it stores.
func TestRulesOfImports(t *testing.T) {
	t.Parallel()
	withFile(t, memberFile, func(t *testing.T, s *server) {
		c, err := goclient.New(s.base, goclient.Options{})
		if err != nil {
			t.Fatal(err)
		}
		described, err := c.Collections(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rows := `{"id":"` + id(1) + `","first":"Ada","last":"Lovelace","fee":"1.00","full":"ignored","due":"0.00"}
{"id":"` + id(2) + `","first":"Alan","last":"Turing","fee":"-1.00"}
`
		columns := move.ColumnsOf(described[0].Attributes)
		reader, err := move.NewReader(strings.NewReader(rows), move.NDJSON, columns)
		if err != nil {
			t.Fatal(err)
		}
		var bad []string
		run := &move.Import{Client: c, Collection: described[0], Rows: reader, Columns: columns, OnError: move.SkipOnError, Bad: func(_ move.Row, why string) { bad = append(bad, why) }}
		if _, err := run.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(bad) != 1 || !strings.Contains(bad[0], "A fee is not negative.") {
			t.Errorf("refused: %q", bad)
		}
		s.get("/members").expect(t, 200, data(`{"id":"`+id(1)+`","type":"members","first":"Ada","last":"Lovelace","full":"Ada Lovelace","fee":"1.00","due":"12.00","kind":"paid"}`))
	})
}
