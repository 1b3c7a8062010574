package conform

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A server may answer anything; a run ends with a report or an error, and never
// with a panic. The time that passes is that of a bubble: no answer is too late because the machine is busy.
func TestRunEndsWhateverTheServerSends(t *testing.T) { synctest.Test(t, testAnyAnswer) }

func testAnyAnswer(t *testing.T) {
	bodies := []string{
		"", "null", "[]", "{}", "1", `"x"`, "<html>", "{", "\xff", `{"data":null}`, `{"data":[]}`, `{"data":[null,1,"x",[]]}`, `{"data":{"id":5,"type":null}}`,
		`{"data":{"id":"x","name":1,"active":"yes","email":[],"created_at":5,"updated_at":""}}`,
		`{"data":[{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","name":"a"},{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789AC","name":null,"n":1}]}`,
		`{"data":[{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ad","type":"users","name":"b","active":true,"n":2.5}]}`,
		`{"data":[{"name":"users","singular":"user","attributes":[{"name":"name","type":"string"},{"name":"active","type":"boolean"},{"name":"n","type":"integer","multipleOf":0},` +
			`{"name":"p","type":"string","minLength":99999999},{"name":"user_id","references":"users"}]}]}`,
		`{"data":[{"name":"users","attributes":[{"name":"name","type":"string"},{"name":1},5,{"name":"n","type":"number","minimum":5,"maximum":1}]},{"name":"posts","attributes":[{"name":"user_id","references":"users"}]}]}`,
		`{"data":{"id":"x","status":"pending"}}`, `{"data":{"id":"x","status":"failed","errors":[{"status":7}]}}`, `{"data":{"status":"succeeded"}}`,
		`{"errors":{}}`, `{"errors":[1]}`, `{"errors":[{"status":"x","source":{"pointer":"/name"}}]}`,
	}
	statuses := []int{200, 200, 200, 200, 201, 201, 202, 202, 204, 308, 400, 404, 405, 415, 422, 500}
	headers := []string{"", "<", "</users?limit=5>; rel=next", `<::>; rel="prev first last next"`, "5", "GET, HEAD", "/users/01936f2e-7d3c-7a4b-9c5d-0123456789ab", "/operations/1", "%zz"}
	reports := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		pick := func(from []string) string { return from[random.IntN(len(from))] }
		// A server that is mostly consistent gets further, to the checks.
		usual, posted := pick(bodies), 0
		answer := roundTrip(func(r *http.Request) (*http.Response, error) {
			status, body := statuses[random.IntN(len(statuses))], usual
			switch {
			case r.URL.Path == "/":
				status, body = 200, bodies[16+random.IntN(2)]
			case r.Method == http.MethodPost && posted < fixtureSize:
				posted++
				status, body = 201, bodies[14+random.IntN(2)]
			case r.URL.RawQuery == "limit=500" && posted == 0 && seed%3 != 0:
				status, body = 200, `{"data":[]}` // else all that it creates were there before
			case r.URL.RawQuery == "limit=500":
				status, body = 200, bodies[14+random.IntN(2)]
			case random.IntN(4) == 0:
				body = pick(bodies)
			}
			header := http.Header{}
			for _, name := range []string{"Link", "Location", "X-Total-Count", "Allow", "Content-Type", "Content-Location"} {
				header.Set(name, pick(headers))
			}
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		options := Options{
			BaseURL: "http://conform.test", Collection: "users", Client: &http.Client{Transport: answer},
			ReadOnly: seed%3 == 0, ConventionOnly: seed%5 == 0, Sample: json.RawMessage(`{"name":"Ada"}`),
			Async: seed%4 == 1 && seed%3 != 0, Timeout: 5 * time.Millisecond,
		}
		report, err := Run(context.Background(), options)
		if report == nil == (err == nil) {
			t.Errorf("%d: got %v, %v", seed, report, err)
		}
		if report != nil {
			reports++
		}
	}
	if reports < 50 {
		t.Errorf("only %d runs came to the checks", reports)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
