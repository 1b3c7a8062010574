package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

const prices = `
collections:
  prices:
    timestamps: false
    attributes:
      amount: {type: string, format: decimal, scale: 2, unique: true}
      tax: {type: string, format: decimal, scale: 4, index: true, minimum: 0, exclusiveMaximum: 1, multipleOf: 0.0025}
      steps: {type: array, items: {type: string, format: decimal, scale: 1}}
      rate: {type: string, format: decimal, scale: 2, enum: ["1.5", "2"], default: "2"}
      digits: {type: string, format: decimal, scale: 18}
`

func price(position int, amount, rest string) string {
	return `{"id":"` + id(position) + `","type":"prices","amount":` + amount + `,` + rest + `}`
}

// TestDecimals: strings outside, numbers inside.
func TestDecimals(t *testing.T) {
	file, err := schema.Parse([]byte(prices))
	if err != nil {
		t.Fatal(err)
	}
	const rest = `"tax":null,"steps":null,"rate":"2.00","digits":null`
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		amounts := []string{`"10"`, `"9.5"`, `"-10.25"`, `"0"`, `null`, `"9999999999999999.99"`, `"-9999999999999999.99"`, `"100"`}
		stored := []string{`"10.00"`, `"9.50"`, `"-10.25"`, `"0.00"`, `null`, `"9999999999999999.99"`, `"-9999999999999999.99"`, `"100.00"`}
		for i, amount := range amounts {
			s.do("POST", "/prices", `{"id":"`+id(i)+`","amount":`+amount+`}`).expect(t, 201, `{"data":`+price(i, stored[i], rest)+`}`)
			s.get("/prices/"+id(i)).expect(t, 200, `{"data":`+price(i, stored[i], rest)+`}`)
		}
		for query, want := range map[string][]int{
			"sort=amount":                                         {4, 6, 2, 3, 1, 0, 7, 5},
			"sort=-amount&limit=3":                                {5, 7, 0},
			"sort=amount&cursor=" + id(3) + "&limit=3":            {3, 1, 0},
			"sort=amount&cursor=" + id(3) + "&limit=-2":           {6, 2},
			"filter[amount]=10":                                   {0},
			"filter[amount]=10.00&filter[amount]=9.5":             {0, 1},
			"filter[amount][lt]=9.50":                             {2, 3, 6},
			"filter[amount][lte]=9.5":                             {1, 2, 3, 6},
			"filter[amount][gt]=10":                               {5, 7},
			"filter[amount][gte]=10":                              {0, 5, 7},
			"filter[amount][ne]=-10.25":                           {0, 1, 3, 4, 5, 6, 7},
			"filter[amount][in]=-0,100.0":                         {3, 7},
			"filter[amount][not_in]=0&filter[amount][not_in]=100": {0, 1, 2, 4, 5, 6},
			"filter[amount][null]=true":                           {4},
			"filter[amount]&filter[amount][lt]=0":                 {2, 6},
			"filter[amount][lt]=9999999999999999.99":              {0, 1, 2, 3, 6, 7},
		} {
			s.get("/prices?"+query).expectPositions(t, query, want...)
		}
		for query, want := range map[string]string{
			"filter[amount]=1.005":                 "invalid_parameter filter[amount]",
			"filter[amount]=1e2":                   "invalid_parameter filter[amount]",
			"filter[amount]=":                      "invalid_parameter filter[amount]",
			"filter[amount][lt]=10000000000000000": "invalid_parameter filter[amount][lt]",
			"filter[amount][contains]=1":           "invalid_parameter filter[amount][contains]",
		} {
			s.expectRefusal(t, "GET", "/prices?"+query, "", 400, want)
		}
		for body, want := range map[string]string{
			`{"amount":10}`: "type /amount", `{"amount":"1.005"}`: "precision /amount", `{"amount":"1.500"}`: "precision /amount", `{"amount":"1e2"}`: "format /amount", `{"amount":""}`: "format /amount",
			`{"amount":"10000000000000000"}`: "out_of_range /amount", `{"digits":"1"}`: "out_of_range /digits",
			`{"tax":"-0.0025"}`: "minimum /tax", `{"tax":"1"}`: "maximum /tax", `{"tax":"0.001"}`: "multiple_of /tax",
			`{"rate":"1"}`: "enum /rate", `{"steps":["1.5","1.55"]}`: "precision /steps/1", `{"steps":[1]}`: "type /steps/0",
		} {
			s.expectRefusal(t, "PATCH", "/prices/"+id(0), body, 422, want)
		}
		s.do("POST", "/prices", `{"amount":"10.0"}`).expectErrors(t, 409, "not_unique /amount")
		before := s.get("/prices/" + id(0)).header.Get("Etag")
		same := s.do("PATCH", "/prices/"+id(0), `{"amount":"10","rate":"2.0"}`)
		same.expect(t, 200, `{"data":`+price(0, `"10.00"`, rest)+`}`)
		if same.header.Get("Etag") != before {
			t.Error("the same number in other digits is a change")
		}
		s.do("PATCH", "/prices/"+id(0), `{"amount":"-0.05","tax":"0.0025","steps":["1","-0.5"],"rate":"1.50","digits":"-0.000000000000000001"}`).
			expect(t, 200, `{"data":`+price(0, `"-0.05"`, `"tax":"0.0025","steps":["1.0","-0.5"],"rate":"1.50","digits":"-0.000000000000000001"`)+`}`)
		s.do("POST", "/prices", `[{"id":"`+id(20)+`","amount":"7","tax":"0.5"},{"id":"`+id(21)+`","amount":"8"}]`).
			expect(t, 201, data(price(20, `"7.00"`, strings.Replace(rest, `"tax":null`, `"tax":"0.5000"`, 1)), price(21, `"8.00"`, rest)))
	})
}
