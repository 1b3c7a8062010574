package interfacetest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

func drained(c *plural.Config) { c.DrainDelay = hung }

// startStop calls Stop, and returns when the server drains. End ends that.
func (s *server) startStop() (end func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.opened.Stop(ctx) }()
	eventually(s.t, "the server drains", func() bool {
		ready := s.get("/-/ready")
		return ready.status == 503 && ready.body == `{"status":"unavailable","detail":"The server is shutting down. Try again later."}`
	})
	return func() {
		s.t.Helper()
		select {
		case err := <-stopped:
			s.t.Errorf("stopped before the end of the delay: %v", err)
		default:
		}
		cancel()
		if err := <-stopped; err != nil && err.Error() != context.Canceled.Error() {
			s.t.Error(err)
		}
	}
}

// TestDrain: only readiness fails. Requests, streams and calls go on.
func TestDrain(t *testing.T) {
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		before := s.stream("/people")
		before.expect("synced {}")
		end := s.startStop()
		const ada = `{"id":"01936f2e-7d3c-7a4b-9c5d-000000000001","type":"people","name":"Ada","slug":null}`
		created := s.do("POST", "/people", `{"id":"01936f2e-7d3c-7a4b-9c5d-000000000001","name":"Ada"}`)
		created.expect(t, 201, `{"data":`+ada+`}`)
		created.expectHeaders(t, "Location: /people/01936f2e-7d3c-7a4b-9c5d-000000000001", tagged)
		before.expect("created " + eventOf(ada, ""))
		s.stream("/people").expect(`listed {"data":`+ada+`}`, "synced {}")
		if person, err := of[Person](t, s.opened).Get(context.Background(), "01936f2e-7d3c-7a4b-9c5d-000000000001"); err != nil || person.Name != "Ada" {
			t.Errorf("a call: %+v, %v", person, err)
		}
		s.get("/-/health").expect(t, 200, `{"status":"ok"}`)
		end()
	}, drained)
}

// TestDrainEndsConnections of HTTP/1 and HTTP/2: the next request is sent on another one.
func TestDrainEndsConnections(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, 1, certFile, keyFile)
	for protocol, scheme := range map[int]string{1: "http://", 2: "https://"} {
		t.Run(fmt.Sprint("HTTP/", protocol), func(t *testing.T) {
			s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), drained, func(c *plural.Config) {
				if protocol == 2 {
					c.CertFile, c.KeyFile = certFile, keyFile
				}
			})
			s.base = scheme + strings.TrimPrefix(s.base, "http://")
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
			defer transport.CloseIdleConnections()
			again := func() (reused bool) {
				request, err := http.NewRequest("GET", s.base+"/users", nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }})
				response, err := transport.RoundTrip(request.WithContext(ctx))
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 200 || response.ProtoMajor != protocol || string(body) != `{"data":[]}` {
					t.Fatalf("%s %s %s, %v", response.Proto, response.Status, body, err)
				}
				return reused
			}
			again()
			eventually(t, "a connection is used again", again)
			ctx, cancel := context.WithCancel(context.Background())
			stopped := make(chan error, 1)
			go func() { stopped <- s.opened.Stop(ctx) }()
			for range 3 {
				eventually(t, "another connection is used", func() bool { return !again() })
			}
			cancel()
			<-stopped
		})
	}
}
