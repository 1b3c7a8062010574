package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/otlptest"
)

// TestTracingDocument runs the commands of docs/tracing.md, with a stream in place of that on another node, and compares the spans and
// the event that it shows.
func TestTracingDocument(t *testing.T) {
	raw, err := os.ReadFile("../../docs/tracing.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := func(language string) []string {
		var found []string
		for _, match := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(string(raw), -1) {
			found = append(found, match[1])
		}
		return found
	}
	commands, shown := blocks("sh"), blocks("text")
	if len(commands) != 3 || len(shown) != 2 {
		t.Fatalf("there are %d commands and %d texts", len(commands), len(shown))
	}
	collector := otlptest.New(t)
	os.Unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT") // which New has set until the end of the test: the command sets it
	shell := func(command, addr string) *exec.Cmd {
		command = strings.NewReplacer("http://localhost:4318", collector.URL, "localhost:8080", addr, "plural serve", os.Args[0]+" serve --addr="+addr).Replace(command)
		run := program(t, t.TempDir())
		run.Path, run.Args = "/bin/sh", []string{"sh", "-c", command}
		return run
	}
	addr := loopback.Address()
	server := shell("exec env "+commands[0], addr)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	server.Stderr = log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "Data  ") {
		if found := apiLine.FindStringSubmatch(lines.Text()); found != nil {
			addr = strings.TrimPrefix(found[1], "http://")
		}
	}
	request, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/users", nil)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00")
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	for events.Scan() && events.Text() != "event: synced" {
	}
	if answer, err := shell(commands[1], addr).Output(); err != nil || !strings.Contains(string(answer), `"name":"Ada"`) {
		t.Errorf("%v: %s", err, answer)
	}
	event := ""
	for events.Scan() && !strings.Contains(event, "data: ") {
		if line := events.Text(); line == "event: created" || event != "" && !strings.HasPrefix(line, "id: ") {
			event += line + "\n"
		}
	}
	pattern := strings.NewReplacer("…", ".*").Replace(regexp.QuoteMeta(strings.TrimSpace(shown[1])))
	if !regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(event)) {
		t.Errorf("the event is\n%s\nand the document has\n%s", event, shown[1])
	}
	if found, err := shell(commands[2], addr).Output(); err != nil || !strings.Contains(string(found), `route="/users"`) || !strings.Contains(string(found), `# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`) {
		t.Errorf("%v: %s", err, found)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	_, tree, _ := strings.Cut(collector.Tree("4bf92f3577b34da6a3ce929d0e0e4736"), "\n")
	tree = strings.ReplaceAll(tree, "    client UPDATE _plural_meta\n", "")
	if got := strings.ReplaceAll(tree, "\n  ", "\n")[2:]; strings.TrimSpace(got) != strings.TrimSpace(shown[0]) {
		t.Errorf("the spans are\n%s\nand the document has\n%s", got, shown[0])
	}
	if name := collector.Resource()["service.name"]; name != "shop" {
		t.Errorf("the service is %s", name)
	}
}

// TestTracingIsChecked: a setting that would have no effect stops the server before it begins.
func TestTracingIsChecked(t *testing.T) {
	command := program(t, t.TempDir(), "serve", "--addr=127.0.0.1:0")
	command.Env = append(command.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	out, err := command.CombinedOutput()
	if err == nil || string(out) != "plural: OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\", and must be http/protobuf\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
