package interfacetest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// holdAnswer sends a request from an address and reads only the header of the response. The server keeps the
// rest in memory until the connection is closed.
func (s *server) holdAnswer(address, path, body string, headers ...string) net.Conn {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { connection.Close() })
	_ = connection.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, address, len(body))
	for _, header := range headers {
		fmt.Fprintf(connection, "%s\r\n", header)
	}
	fmt.Fprintf(connection, "\r\n%s", body)
	response, err := http.ReadResponse(bufio.NewReaderSize(connection, 16), nil)
	if err != nil || response.StatusCode != 200 {
		s.t.Fatalf("%v %v", response, err)
	}
	return connection
}

// TestWritesShareABudget: what writes of many resources read and return is bounded, for each caller and
// for all together.
func TestWritesShareABudget(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", NoTimestamps: true, Attributes: []schema.Attribute{
		{Name: "code", Type: schema.Integer, Unique: true}, {Name: "text", Type: schema.String},
	}})
	const size = 1 << 20
	eachStore(t, made, func(t *testing.T, s *server) {
		large := `{"id":"` + id(0) + `","code":0,"text":"` + strings.Repeat("a", size) + `"}`
		var rows, codes []string
		for n := 1; n <= 30; n++ {
			rows = append(rows, `{"id":"`+id(n)+`","code":`+strconv.Itoa(n)+`}`)
			codes = append(codes, `{"code":`+strconv.Itoa(n)+`}`)
		}
		s.createAll("/texts", rows...)
		s.createAll("/texts", large)
		step := `{"method":"PATCH","path":"/texts/` + id(0) + `","body":{}}`
		steps := func(count int) string {
			return "[" + strings.Join(slices.Repeat([]string{step}, count), ",") + "]"
		}
		// Small resources that become large, and steps with one large resource.
		before := s.get("/texts?fields=code").body
		s.do("PATCH", "/texts?filter[text][null]=true", `{"text":"`+strings.Repeat("b", size)+`"}`).expectErrors(t, 413, "too_many_items")
		s.do("POST", "/-/transaction", steps(30)).expectErrors(t, 413, "too_many_items /19/path")
		if after := s.get("/texts?fields=code").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		one := s.holdAnswer("192.0.2.1", "/-/transaction?dry_run=true", steps(19))
		two := s.holdAnswer("192.0.2.2", "/-/transaction", steps(19))
		// 2 MiB are left.
		for _, r := range [][3]string{
			{"POST", "/-/transaction", steps(3)},
			{"POST", "/-/transaction?dry_run=true", steps(3)},
			{"PATCH", "/texts?filter[code][lte]=3", `{"text":"` + strings.Repeat("b", size) + `"}`},
		} {
			got := s.do(r[0], r[1], r[2], "X-Forwarded-For", "192.0.2.3")
			got.expectErrors(t, 503, "overloaded")
			if got.header.Get("Retry-After") != "5" {
				t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
			}
		}
		// Small ones find room.
		s.do("POST", "/texts?on_conflict=code", "["+strings.Join(codes[3:], ",")+"]", "X-Forwarded-For", "192.0.2.3").expectLength(t, 27)
		s.do("DELETE", "/texts?filter[code]=30", "", "X-Forwarded-For", "192.0.2.3").expectPositions(t, "deleted", 30)
		one.Close()
		two.Close()
		for { // until the server has noticed
			got := s.do("POST", "/-/transaction", steps(19), "X-Forwarded-For", "192.0.2.3")
			if got.status == 200 {
				break
			}
			got.expectErrors(t, 503, "overloaded")
		}
	}, func(c *plural.Config) {
		c.MaxWriteMemory, c.MaxBody, c.WriteTimeout = 40<<20, 2<<20, time.Hour
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}

// TestUpsertsWithHooksReserveOnce: a hook in the transaction, before which each resource is read again, does not make an
// upsert need more memory.
func TestUpsertsWithHooksReserveOnce(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", NoTimestamps: true, Attributes: []schema.Attribute{
		{Name: "code", Type: schema.Integer, Unique: true}, {Name: "note", Type: schema.String}, {Name: "text", Type: schema.String},
	}})
	within := plural.Hook{Collection: "texts", Within: func(context.Context, *plural.Tx, *plural.Change) error { return nil }}
	for name, hooks := range map[string][]plural.Hook{"without": nil, "with": {within}} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, made, func(t *testing.T, s *server) {
				var rows []string
				upserts := func(count int, note string) string {
					var all []string
					for n := range count {
						all = append(all, `{"code":`+strconv.Itoa(n)+`,"note":"`+note+`"}`)
					}
					return "[" + strings.Join(all, ",") + "]"
				}
				for n := range 10 {
					rows = append(rows, `{"id":"`+id(n)+`","code":`+strconv.Itoa(n)+`,"text":"`+strings.Repeat("a", 1<<20)+`"}`)
				}
				s.createAll("/texts", rows...)
				// 20 MiB are for one caller: each resource is read and returned.
				s.do("POST", "/texts?on_conflict=code", upserts(9, "u")).expectLength(t, 9)
				s.do("POST", "/texts?on_conflict=code", upserts(10, "x")).expectErrors(t, 413, "too_many_items")
			}, func(c *plural.Config) { c.MaxWriteMemory, c.MaxBody = 40<<20, 16<<20 }, withHooks(hooks...))
		})
	}
}

// TestReplaysShareTheBudget: a long recorded response that is sent again uses the same memory.
func TestReplaysShareTheBudget(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}})
	eachStore(t, made, func(t *testing.T, s *server) {
		s.createAll("/texts", `{"id":"`+id(0)+`","text":"`+strings.Repeat("a", 1<<20)+`"}`)
		step := `{"method":"PATCH","path":"/texts/` + id(0) + `","body":{}}`
		steps := "[" + strings.Join(slices.Repeat([]string{step}, 19), ",") + "]"
		send := func() answer {
			return s.do("POST", "/-/transaction", steps, "X-Forwarded-For", "192.0.2.3", "Idempotency-Key", "k")
		}
		first := send()
		if first.status != 200 || len(first.body) < 19<<20 {
			t.Fatalf("%d %.200s", first.status, first.body)
		}
		one := s.holdAnswer("192.0.2.1", "/-/transaction", steps, "Idempotency-Key: k")
		two := s.holdAnswer("192.0.2.2", "/-/transaction", steps, "Idempotency-Key: k")
		send().expectErrors(t, 503, "overloaded")
		one.Close()
		two.Close()
		for { // until the server has noticed
			got := send()
			if got.status == 200 {
				got.expectReplay(t, first)
				break
			}
			got.expectErrors(t, 503, "overloaded")
		}
	}, func(c *plural.Config) {
		c.MaxWriteMemory, c.MaxBody, c.WriteTimeout = 40<<20, 2<<20, time.Hour
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}
