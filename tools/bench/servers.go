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
	"strings"

	"github.com/plural-go/plural/internal/pgserver"
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
	binary  string // of plural; empty: another server

	postgres    bool
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

// logTail is the end of the log of a server that runs.
func (s *server) logTail() []byte {
	if s.process == nil {
		return nil
	}
	return s.process.LogTail()
}

// isStatic reports whether the server knows nothing but lengths.
func (s *server) isStatic() bool { return s.name == Bare }

func isPlural(s *server) bool    { return s.binary != "" }
func hasDatabase(s *server) bool { return !s.isStatic() }

func (p *Plan) addBare() {
	p.servers = append(p.servers, &server{name: Bare, home: p.home, core: p.serverCore, command: func(string) *exec.Cmd {
		return exec.Command(p.self, "serve", serveBare, "")
	}})
}

// addHand adds a hand-written server with its databases.
func (p *Plan) addHand(ctx context.Context, name string, postgres bool) error {
	kind := serveSQLite
	if postgres {
		kind = servePostgres
	}
	s := &server{name: name, home: p.home, core: p.serverCore, postgres: postgres, command: func(database string) *exec.Cmd {
		return exec.Command(p.self, "serve", kind, strings.TrimPrefix(database, sqliteURL))
	}}
	if err := p.addDatabases(ctx, s); err != nil {
		return err
	}
	for database, users := range map[string]int{s.full: p.Users, s.empty: 0} {
		var err error
		if postgres {
			err = createHandPostgres(ctx, database, users)
		} else {
			err = createHandSQLite(strings.TrimPrefix(database, sqliteURL), users)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addPlural adds a server of ours, with the settings it comes with, but for those that are given.
func (p *Plan) addPlural(ctx context.Context, name, binary string, postgres bool, settings ...string) error {
	return p.addDatabases(ctx, &server{name: name, home: p.home, core: p.serverCore, binary: binary, postgres: postgres, command: func(database string) *exec.Cmd {
		args := append([]string{"serve", "--addr=127.0.0.1:0", "--schema=" + filepath.Join(p.home, "plural.yaml"), "--database=" + database}, settings...)
		return exec.Command(binary, args...)
	}})
}

// addDatabases makes the databases of a server, and adds it.
func (p *Plan) addDatabases(ctx context.Context, s *server) (err error) {
	if s.full, err = p.newDatabase(ctx, s.postgres); err == nil {
		s.empty, err = p.newDatabase(ctx, s.postgres)
	}
	p.servers = append(p.servers, s)
	return err
}

const sqliteURL = "sqlite:"

// newDatabase returns the URL of an empty database.
func (p *Plan) newDatabase(ctx context.Context, postgres bool) (string, error) {
	p.databases++
	name := fmt.Sprint("bench", p.databases)
	if !postgres {
		return sqliteURL + filepath.Join(p.home, name+".db"), nil
	}
	return p.cluster.url(name), p.cluster.exec(ctx, "postgres", "CREATE DATABASE "+name)
}

// fill loads users and tasks, from a row to before another, into a server of ours that runs, and
// lets PostgreSQL look at them.
func (p *Plan) fill(ctx context.Context, s *server, fromUser, fromTask int) error {
	if err := s.create(ctx, "users", fromUser, p.Users, rowBody); err != nil {
		return err
	}
	if err := s.create(ctx, "tasks", fromTask, p.Rows, taskBody); err != nil || !s.postgres {
		return err
	}
	return pgserver.Query(ctx, s.full, nil, "VACUUM ANALYZE")
}

// create creates resources over the interface of a server, from a row to before another.
func (s *server) create(ctx context.Context, collection string, from, to int, body func(row int) string) error {
	const atOnce = 1000
	for ; from < to; from += atOnce {
		all := bytes.NewBufferString("[")
		for row := from; row < min(to, from+atOnce); row++ {
			if row > from {
				all.WriteByte(',')
			}
			all.WriteString(body(row))
		}
		all.WriteByte(']')
		if err := s.send(ctx, http.MethodPost, "/"+collection, all, http.StatusCreated); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request that is not measured by its rate.
func (s *server) send(ctx context.Context, method, path string, body io.Reader, want int) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, body)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != want {
		err = fmt.Errorf("%s: %s %s: %s\n%s", s.name, method, path, answer.Status, text)
	}
	return err
}
