//go:build linux

package bench

import (
	"bytes"
	"context"
	_ "embed" // the schema
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/process"
)

//go:embed schema.yaml
var schemaFile []byte

// server is one of the servers that are compared.
type server struct {
	name    string
	home    string // the directory of its log
	core    core
	command func(database string) *exec.Cmd

	full, empty string // its databases

	process *process.Process // nil if it does not run
	address string
}

// start starts the server on one of its databases, and returns when it takes
// requests.
func (s *server) start(ctx context.Context, database string) (err error) {
	log := filepath.Join(s.home, strings.Map(letters, s.name)+".log")
	if s.process, err = launch(log, s.core, s.command(database)); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.address, err = s.process.Wait(ctx, maxStart); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '-'
}

func (s *server) stop() error {
	if s.process == nil {
		return nil
	}
	err := s.process.Stop(maxStart)
	s.process = nil
	return err
}

// emptyLog keeps the log of a fast server from filling the disk.
func (s *server) emptyLog() error { return s.process.TruncateLog() }

// isStatic reports whether the server knows nothing but lengths.
func (s *server) isStatic() bool { return s.name == Bare }

// bareServer answers with bodies of all the lengths that occur.
func (p *Plan) bareServer() *server {
	lengths := map[int]bool{}
	caller := newCaller(p.Rows, 1, &p.serial)
	for _, workload := range p.workloads {
		for range 64 { // a resource has one of two lengths, by chance
			if !workload.bytes {
				workload.next(caller)
				lengths[caller.length] = true
			}
		}
	}
	for range 64 { // which every server is asked for when it starts
		caller.get()
		lengths[caller.length] = true
	}
	return &server{name: Bare, home: p.home, core: p.serverCore, command: func(string) *exec.Cmd {
		args := []string{"serve", serveBare}
		for length := range lengths {
			args = append(args, strconv.Itoa(length))
		}
		return exec.Command(p.self, args...)
	}}
}

// handServer is a hand-written server on one of the two databases.
func (p *Plan) handServer(name, kind, full, empty string) *server {
	return &server{name: name, home: p.home, core: p.serverCore, full: full, empty: empty, command: func(database string) *exec.Cmd {
		return exec.Command(p.self, "serve", kind, database)
	}}
}

// pluralServer is the real thing, with the settings it comes with, but for those that
// are given.
func (p *Plan) pluralServer(name, binary, full, empty string, settings ...string) *server {
	return &server{name: name, home: p.home, core: p.serverCore, full: full, empty: empty, command: func(database string) *exec.Cmd {
		args := append([]string{"serve", "--addr=127.0.0.1:0", "--schema=" + filepath.Join(p.home, "plural.yaml"), "--database=" + database}, settings...)
		return exec.Command(binary, args...)
	}}
}

// fill loads the rows into a server that runs, over its interface.
func (s *server) fill(ctx context.Context, rows int) error {
	const atOnce = 1000
	for from := 0; from < rows; from += atOnce {
		body := bytes.NewBufferString("[")
		for row := from; row < min(rows, from+atOnce); row++ {
			if row > from {
				body.WriteByte(',')
			}
			body.WriteString(rowBody(row))
		}
		body.WriteByte(']')
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/users", body)
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusCreated {
			return fmt.Errorf("%s: loading rows: %s\n%s", s.name, answer.Status, text)
		}
	}
	return nil
}
