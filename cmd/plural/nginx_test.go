package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/pgtest"
)

// behindNginx starts nginx with packaging/nginx.conf and returns a client of it. The addresses of the nodes and of nginx and
// the paths of the certificate are replaced.
func behindNginx(t *testing.T, nodes [2]string) *http.Client {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // which is not in the PATH of every user
	}
	// Not in t.TempDir, whose path may be too long for a socket.
	dir, err := os.MkdirTemp("", "nginx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, log := filepath.Join(dir, "socket"), filepath.Join(dir, "log")
	shipped, err := os.ReadFile("../../packaging/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	conf := string(shipped)
	for old, replacement := range map[string]string{
		"10.0.0.11:8080":                       nodes[0],
		"10.0.0.12:8080":                       nodes[1],
		"listen 443 ssl":                       "listen unix:" + socket + " ssl",
		"/etc/ssl/api.example.com.pem":         filepath.Join(dir, "pem"),
		"/etc/ssl/private/api.example.com.key": filepath.Join(dir, "key"),
	} {
		if !strings.Contains(conf, old) {
			t.Fatalf("nginx.conf does not contain %s", old)
		}
		conf = strings.ReplaceAll(conf, old, replacement)
	}
	writeCertificate(t, filepath.Join(dir, "pem"), filepath.Join(dir, "key"))
	main := "daemon off; worker_processes 1; pid " + dir + "/pid;\n"
	if os.Getuid() == 0 {
		main += "user root;\n"
	}
	main += "events {}\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(main+conf+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-p", dir, "-e", log, "-c", filepath.Join(dir, "conf"))
	if err := command.Start(); err != nil {
		t.Fatalf("the tests need nginx: run make setup, or install Debian's nginx-light: %v", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-exited
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	eventually(t, "nginx listens", func() bool {
		connection, err := dial(t.Context(), "", "")
		if err == nil {
			connection.Close()
			return true
		}
		select {
		case <-exited:
			text, _ := os.ReadFile(log)
			t.Fatalf("nginx has exited: %s", text)
		default:
		}
		return false
	})
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func writeCertificate(t *testing.T, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNginxRepeats: a request whose node closes the connection without a response is sent to another node, however often that
// happens, if it may be executed again.
func TestNginxRepeats(t *testing.T) {
	var mutex sync.Mutex
	var received []string
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mutex.Lock()
		received = append(received, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Idempotency-Key"), body))
		first := len(received) == 1
		mutex.Unlock()
		if first {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "done")
	}))
	defer node.Close()
	addr := node.Listener.Addr().String()
	client := behindNginx(t, [2]string{addr, addr})
	for _, c := range []struct {
		method, key string
		repeated    bool
	}{
		{"GET", "", true}, {"HEAD", "", true}, {"PUT", "", true}, {"DELETE", "", true},
		{"POST", "k", true}, {"PATCH", "k", true}, {"PUT", "k", true}, {"DELETE", "k", true}, {"GET", "k", true},
		{"POST", "", false}, {"PATCH", "", false},
	} {
		mutex.Lock()
		received = nil
		mutex.Unlock()
		body, want, status := "", "done", 200
		if c.method == "POST" || c.method == "PATCH" || c.method == "PUT" {
			body = `{"a":"` + strings.Repeat("x", 1<<15) + `"}` // more than nginx keeps in memory
		}
		request := requestOf(t, c.method, "https://localhost/users?filter[name]=a%2Fb", c.key, body)
		sent := fmt.Sprintf("%s %s %s %s", c.method, request.URL.RequestURI(), c.key, body)
		all := []string{sent, sent}
		if !c.repeated {
			all, status = all[:1], 502
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%s with key %q: %v", c.method, c.key, err)
		}
		got, err := io.ReadAll(response.Body)
		response.Body.Close()
		if c.method == "HEAD" {
			want = ""
		}
		if err != nil || response.StatusCode != status || status == 200 && string(got) != want {
			t.Errorf("%s with key %q: %d %s, %v", c.method, c.key, response.StatusCode, got, err)
		}
		mutex.Lock()
		if strings.Join(received, "\n") != strings.Join(all, "\n") {
			t.Errorf("%s with key %q: the nodes received %.200q", c.method, c.key, received)
		}
		mutex.Unlock()
	}
}

func requestOf(t *testing.T, method, url, key, body string) *http.Request {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return request
}

// TestRollingRestart: both nodes behind nginx are restarted, one directly after the other, and no GET and no write with an
// Idempotency-Key fails.
func TestRollingRestart(t *testing.T) {
	database := pgtest.URL(t)
	startNode := func(addr string) *process {
		return serveIn(t, t.TempDir(), "--database="+database, "--log-level=warn", "--drain-delay=100ms", "--addr="+addr)
	}
	var nodes [2]*process
	var addrs [2]string
	for i := range nodes {
		nodes[i] = startNode(loopback.Address())
		addrs[i] = strings.TrimPrefix(nodes[i].base, "http://")
	}
	load := &restartLoad{client: behindNginx(t, addrs)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var workers sync.WaitGroup
	stored := make([]string, 4)
	for i := range stored {
		workers.Go(func() { stored[i] = load.run(ctx, t, i) })
	}
	for range 2 {
		load.goesOn(t)
		for i := range nodes {
			if err := nodes[i].stop(t, syscall.SIGTERM); err != nil {
				t.Errorf("%v\n%s", err, nodes[i].log)
			}
			nodes[i] = startNode(addrs[i])
		}
	}
	load.goesOn(t)
	stop()
	workers.Wait()
	status, list := load.send(t, "GET", "/users?sort=email&limit=100000", "", "")
	if want := `{"data":[` + strings.Join(strings.Fields(strings.Join(stored, "")), ",") + `]}`; status != 200 || list != want {
		t.Errorf("%d, the nodes have\n%s\nwant\n%s", status, list, want)
	}
}

// restartLoad sends requests and counts the responses.
type restartLoad struct {
	client    *http.Client
	responses atomic.Int64
}

// goesOn waits for more responses.
func (l *restartLoad) goesOn(t *testing.T) {
	t.Helper()
	before := l.responses.Load()
	eventually(t, "there are more responses", func() bool { return l.responses.Load() > before+10 || t.Failed() })
}

// run creates, changes, reads and deletes users until the context ends, and returns those that are left.
func (l *restartLoad) run(ctx context.Context, t *testing.T, worker int) (stored string) {
	expect := func(want, status int, n int, what, body string) bool {
		if status != want {
			t.Errorf("worker %d, user %d, %s: %d %s", worker, n, what, status, body)
		}
		return status == want
	}
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%d-%06d", worker, n)
		status, created := l.send(t, "POST", "/users", "create-"+key, `{"name":"Ada","email":"`+key+`@example.com"}`)
		if !expect(201, status, n, "POST", created) {
			return
		}
		id := created[len(`{"data":{"id":"`):][:36]
		status, changed := l.send(t, "PATCH", "/users/"+id, "change-"+key, `{"name":"Eve"}`)
		if !expect(200, status, n, "PATCH", changed) {
			return
		}
		if status, read := l.send(t, "GET", "/users/"+id, "", ""); !expect(200, status, n, "GET", read) || read != changed {
			t.Errorf("got %s after %s", read, changed)
			return
		}
		if n%2 == 0 {
			status, deleted := l.send(t, "DELETE", "/users/"+id, "delete-"+key, "")
			if !expect(200, status, n, "DELETE", deleted) {
				return
			}
			continue
		}
		stored += strings.TrimSuffix(strings.TrimPrefix(changed, `{"data":`), "}") + "\n"
	}
	return stored
}

func (l *restartLoad) send(t *testing.T, method, path, key, body string) (status int, text string) {
	response, err := l.client.Do(requestOf(t, method, "https://localhost"+path, key, body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	l.responses.Add(1)
	return response.StatusCode, string(read)
}
