package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	dir := t.TempDir()
	p := serveIn(t, dir)
	addr := strings.TrimPrefix(p.base, "http://")
	ask := func(args ...string) (string, error) {
		out, err := program(t, dir, append([]string{"health", "--timeout=5m"}, args...)...).CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{p.base}, {p.base + "/"}, {"--addr", addr}} {
		if out, err := ask(args...); err != nil || out != "ok\n" {
			t.Errorf("%v: %s, %v", args, out, err)
		}
	}
	// The database has two seconds to respond, which a busy machine may exceed.
	eventually(t, "the server is ready", func() bool {
		out, err := ask("--ready", p.base)
		return err == nil && out == "ready\n"
	})
	if out, err := ask(p.base + "/users"); err == nil || out != "plural: "+p.base+"/users/-/health: status 404, and the body is not that of a Plural server\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := ask("nonsense"); err == nil || out != "plural: nonsense/-/health: unsupported protocol scheme \"\"\n" {
		t.Errorf("%s, %v", out, err)
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out, err := ask("--addr", addr)
	if want := "plural: " + p.base + "/-/health: dial tcp " + addr + ": connect: connection refused\n"; err == nil || out != want {
		t.Errorf("%s, %v", out, err)
	}
}

func TestHealthOfAFailedServer(t *testing.T) {
	sick := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"status":"unavailable","detail":"The database does not answer."}`))
	}))
	defer sick.Close()
	err := health(context.Background(), t.Output(), sick.Client().Transport, sick.URL+"/-/ready")
	if want := sick.URL + "/-/ready: unavailable: The database does not answer."; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	out, err := program(t, t.TempDir(), "health", "--timeout", "100ms", slow.URL).CombinedOutput()
	if want := "plural: " + slow.URL + "/-/health: no response within 100ms\n"; err == nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
}

func TestOwnURL(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":80": "http://127.0.0.1:80", "0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://[::1]:80", "[::1]:80": "http://[::1]:80",
	} {
		if got, err := ownURL(&settings{addr: addr}); err != nil || got != want {
			t.Errorf("%s: %s, %v", addr, got, err)
		}
	}
	s := settings{addr: "example.com:443"}
	s.config.CertFile = "cert.pem"
	if got, err := ownURL(&s); err != nil || got != "https://example.com:443" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestServeNotifiesSystemd: systemd waits for the first word, and is told when the
// server stops.
func TestServeNotifiesSystemd(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	heard := func() string {
		socket.SetReadDeadline(time.Now().Add(5 * time.Minute))
		words := make([]byte, 100)
		n, err := socket.Read(words)
		if err != nil {
			t.Fatal(err)
		}
		return string(words[:n])
	}
	t.Setenv("NOTIFY_SOCKET", name)
	p := serveIn(t, dir)
	if got := heard(); got != "READY=1" {
		t.Error(got)
	}
	// The database has two seconds to respond, which a busy machine may exceed.
	eventually(t, "the server is ready", func() bool { return get(t, p.base+"/-/ready") == `200 {"status":"ready"}` })
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if got := heard(); got != "STOPPING=1" {
		t.Error(got)
	}
	os.Remove(name)
	p = serveIn(t, dir)
	p.stop(t, syscall.SIGTERM)
	if !strings.Contains(p.log.String(), "the service manager could not be notified") {
		t.Error(p.log)
	}
}

func TestVersion(t *testing.T) {
	out, err := program(t, t.TempDir(), "version").Output()
	want := regexp.MustCompile(`^plural    \S+\ncommit    (unknown|[0-9a-f]{40}.*)\ngo        ` + regexp.QuoteMeta(runtime.Version()) + `\nplatform  ` + runtime.GOOS + "/" + runtime.GOARCH + `\n$`)
	if err != nil || !want.Match(out) {
		t.Errorf("%s, %v", out, err)
	}
	rest := "go        " + runtime.Version() + "\nplatform  " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	installed := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	if got, want := versionText(installed), "plural    v1.2.3\ncommit    unknown\n"+rest; got != want {
		t.Errorf("got %s", got)
	}
	built := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	if got, want := versionText(built), "plural    dev\ncommit    abc and changes that are not committed\n"+rest; got != want {
		t.Errorf("got %s", got)
	}
}
