package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// Lists are compressed for those who ask for it, and are the same otherwise.
func TestGzip(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for i := range 60 {
			s.create("/posts", fmt.Sprintf(`{"id":"%s","title":"%d","body":"%s"}`, id(i), i, strings.Repeat("body é ", 300)))
		}
		for _, query := range []string{"limit=60", "limit=5", "limit=5", "limit=5", "offset=55&limit=60", "filter[title]=7", "limit=-3&sort=-title"} {
			plain := s.get("/posts?" + query)
			zipped := s.get("/posts?"+query, "Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1")
			if zipped.status != 200 || zipped.header.Get("Content-Encoding") != "gzip" || fmt.Sprint(zipped.header["Vary"]) != "[Accept Accept-Encoding]" || fmt.Sprint(plain.header["Vary"]) != "[Accept Accept-Encoding]" {
				t.Errorf("%s: %d %v, and without %v", query, zipped.status, zipped.header, plain.header)
			}
			for _, name := range []string{"Link", "X-Total-Count", "Content-Type"} {
				// Another transaction may have begun meanwhile, which a position tells.
				if got, want := anyPosition.ReplaceAllString(zipped.header.Get(name), ""), anyPosition.ReplaceAllString(plain.header.Get(name), ""); got != want {
					t.Errorf("%s: %s is %q, and without %q", query, name, got, want)
				}
			}
			if unzip(t, zipped.body) != plain.body || len(zipped.body) > len(plain.body)/4 {
				t.Errorf("%s is not the same: %d bytes of %d", query, len(zipped.body), len(plain.body))
			}
			for _, accepted := range []string{"", "identity", "gzip;q=0", "gzip; q=0.0, *;q=1", "gzip;foo=1;q=0", "GZIP ; a ; Q = 0", "br", "*;q=0"} {
				if got := s.get("/posts?"+query, "Accept-Encoding", accepted); got.body != plain.body || got.header.Get("Content-Encoding") != "" {
					t.Errorf("%s with %q: %v", query, accepted, got.header)
				}
			}
		}
		for _, path := range []string{"/posts?limit=0", "/users", "/posts/" + id(1), "/nowhere"} { // short, or not a list
			if got := s.get(path, "Accept-Encoding", "gzip"); got.header.Get("Content-Encoding") != "" || got.body != s.get(path).body {
				t.Errorf("%s: %v", path, got.header)
			}
		}
	})
}

// Whoever takes a long list too slowly is broken off, as the database must keep
// everything meanwhile, and can go on by cursor. Others are not.
func TestMinThroughput(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		const large, total = 100 << 10, 80
		for i := range total {
			s.create("/posts", fmt.Sprintf(`{"id":"%s","body":"%s"}`, id(i), strings.Repeat("x", large)))
		}
		for name, c := range map[string]struct {
			slowest int64
			timeout time.Duration
			broken  bool
		}{"slower": {100 << 10, hung, false}, "faster": {1 << 30, time.Second, true}} {
			limited := s.another(func(config *plural.Config) { config.WriteTimeout, config.MinThroughput = c.timeout, c.slowest })
			got, err := readSlowly(limited.base+"/posts?limit=1000", 256<<10)
			broken := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) // before or after the head of the response
			if c.broken != broken || !c.broken && (err != nil || got < total*large) {
				t.Errorf("%s: got %d bytes, %v", name, got, err)
			}
		}
	})
}

// readSlowly takes a piece of an answer every tenth of a second, so that the sender has to wait
// for it, but never for long.
func readSlowly(url string, piece int) (read int, err error) {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10) // the system would take megabytes by itself
		}
		return conn, err
	}
	response, err := (&http.Client{Transport: checked{&http.Transport{DisableCompression: true, DialContext: dial}}}).Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	buffer := make([]byte, piece)
	for {
		n, err := io.ReadFull(response.Body, buffer)
		read += n
		switch {
		case err == io.ErrUnexpectedEOF && n > 0 && n < piece:
			// Either the end, or the end of what there is: the next read tells.
			_, err = response.Body.Read(buffer[:1])
			if err == io.EOF {
				err = nil
			}
			return read, err
		case err == io.EOF:
			return read, nil
		case err != nil:
			return read, err
		}
		<-pace.C
	}
}
