package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var (
	docTimes = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	docRates = regexp.MustCompile(` in [0-9.]+ s \([0-9,]+/s\)`)
	docIDs   = regexp.MustCompile(`[0-9a-f]{8}((-[0-9a-f]{4}){3}-[0-9a-f]{12}|-…)`)
)

// alike makes outputs of different runs comparable: ids by the order in which they come
// up, and no times or rates. What goes to the standard error may come ahead of the output or
// behind it, so the lines are sorted.
func alike(output string, ids *[]string) string {
	output = docRates.ReplaceAllString(docTimes.ReplaceAllString(strings.ReplaceAll(output, "\r", ""), "TIME"), "")
	output = docIDs.ReplaceAllStringFunc(output, func(id string) string {
		if !slices.Contains(*ids, id) {
			*ids = append(*ids, id)
		}
		return fmt.Sprintf("ID%d", slices.Index(*ids, id))
	})
	lines := strings.Split(strings.TrimSpace(output), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// shows compares JSON with what a document shows of it: formatted, with an ellipsis for any text.
func shows(document, output string) bool {
	compact := func(text string) string {
		return strings.Join(strings.Fields(docTimes.ReplaceAllString(docIDs.ReplaceAllString(text, "ID"), "TIME")), "")
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(compact(document)), "…", ".*?")
	return regexp.MustCompile("^" + pattern + "$").MatchString(compact(output))
}

// shell runs commands of a document, in which plural is this program.
type shell struct {
	t   *testing.T
	bin string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t, t.TempDir()}
	script := fmt.Sprintf("#!/bin/sh\nPLURAL_TEST_AS_PROGRAM=1 exec '%s' \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(s.bin, "plural"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.bin, ".curlrc"), []byte("silent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a command in a directory.
func (s *shell) run(dir, line string) string {
	s.t.Helper()
	shell := exec.Command("sh", "-c", line)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CURL_HOME="+s.bin)
	out, _ := shell.CombinedOutput()
	return string(out)
}

var documentBlock = regexp.MustCompile("(?s)\n```(yaml|console)\n(.*?)\n```")

// follow runs the console blocks of a document in order, and returns how many commands there were. A yaml block is the schema file from
// there on. localhost:8080 is a server, which a document may also start and stop.
func (s *shell) follow(document, dir string, server *process) (commands int) {
	s.t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		s.t.Fatal(err)
	}
	var written, received []string
	for _, block := range documentBlock.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "yaml" {
			writeSchema(s.t, dir, block[2]+"\n")
			continue
		}
		for _, step := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			commands++
			line, want, _ := strings.Cut(step, "\n")
			switch line {
			case "plural serve &":
				server = serveIn(s.t, dir)
				continue
			case "kill %1":
				if err := server.stop(s.t, syscall.SIGTERM); err != nil {
					s.t.Error(err)
				}
				continue
			}
			at := "localhost:8080"
			if server != nil {
				at = strings.TrimPrefix(server.base, "http://")
			}
			out := s.run(dir, strings.ReplaceAll(line, "localhost:8080", at))
			out = strings.ReplaceAll(out, at, "localhost:8080")
			if strings.HasPrefix(want, "{") || strings.Contains(want, "…") {
				if !shows(want, out) {
					s.t.Fatalf("$ %s\ngot\n%s\nwant\n%s", line, out, want)
				}
				continue
			}
			if got, want := alike(out, &received), alike(want, &written); got != want {
				s.t.Fatalf("$ %s\ngot\n%s\nwant\n%s", line, got, want)
			}
		}
	}
	return commands
}

// TestMovingData runs the commands of docs/moving-data.md in a shell, in order.
func TestMovingData(t *testing.T) {
	server := serveIn(t, t.TempDir())
	if commands := newShell(t).follow("../../docs/moving-data.md", t.TempDir(), server); commands < 15 {
		t.Errorf("only %d commands were found: is the document still written in console blocks?", commands)
	}
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestNorthwindTour runs the commands of docs/northwind.md in a copy of examples/northwind, on whose
// database a server is running.
func TestNorthwindTour(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/northwind")); err != nil {
		t.Fatal(err)
	}
	server := serveIn(t, dir)
	if commands := newShell(t).follow("../../docs/northwind.md", dir, server); commands < 10 {
		t.Errorf("only %d commands were found: is the document still written in console blocks?", commands)
	}
	if err := server.stop(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestVersionsTour runs the commands of docs/versions.md, with its schema files.
func TestVersionsTour(t *testing.T) {
	if commands := newShell(t).follow("../../docs/versions.md", t.TempDir(), nil); commands < 10 {
		t.Errorf("only %d commands were found: is the document still written in console blocks?", commands)
	}
}
