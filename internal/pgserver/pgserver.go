// Package pgserver starts PostgreSQL servers: for the tests, the crash harness and the benchmark.
// It needs nothing but the server programs: no running service, no password, no free port.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/process"
)

// hung bounds how long a server may take to start, to answer a question with yes, and to stop. It only ends a
// program that would hang otherwise.
const hung = 5 * time.Minute

// Server is a PostgreSQL server with its files in a directory of its own.
type Server struct {
	// OnThread, if set, runs before the server is started, on the operating system thread that starts it. What it
	// does to that thread, such as setting its processor affinity, is inherited by the server.
	OnThread func() error

	programs   string               // the directory of initdb, postgres and the others
	dir        string               // has the data, the socket and the log
	attributes *syscall.SysProcAttr // for every program that is run
	process    *os.Process          // nil if the server does not run
	exited     <-chan struct{}      // closed when it has exited
}

// New makes a directory for a server. [Server.Close] removes it.
func New() (*Server, error) {
	programs, err := findPrograms(debianPrograms)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent(os.TempDir()), "plural-pg-")
	if err != nil {
		return nil, err
	}
	attributes, err := unprivileged(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Server{programs: programs, dir: dir, attributes: attributes}, nil
}

// parent is the directory for the directories of servers: temp, unless the path of a socket in it could be longer
// than some systems allow (104 bytes), or the user that runs the server may not enter it.
func parent(temp string) string {
	const longest = 60
	info, err := os.Stat(temp)
	if err != nil || len(temp) > longest || info.Mode().Perm()&0o001 == 0 {
		return "/tmp"
	}
	return temp
}

// Data is the data directory.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

func (s *Server) command(path string, args ...string) *exec.Cmd {
	command := exec.Command(path, args...)
	command.Dir = s.dir // the user that runs it may not be allowed into ours
	command.SysProcAttr = s.attributes
	return command
}

// Run runs one of PostgreSQL's programs to its end, as the user that runs the server.
func (s *Server) Run(program string, args ...string) error {
	return s.run(filepath.Join(s.programs, program), args...)
}

func (s *Server) run(path string, args ...string) error {
	// The program is ended with the thread that started it, and Go ends the thread of a goroutine that
	// never unlocks it. While this one has it, no such goroutine gets it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := s.command(path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, out)
	}
	return nil
}

// Init makes an empty data directory. If PLURAL_PG_TEMPLATE is the absolute path of a directory, the first server makes it, and every
// server gets a copy of it, which takes a tenth of the time.
func (s *Server) Init() error {
	template := os.Getenv("PLURAL_PG_TEMPLATE")
	if template == "" {
		return s.initialize(s.Data())
	}
	isMade := func() bool {
		_, err := os.Stat(filepath.Join(template, "PG_VERSION"))
		return err == nil
	}
	if !isMade() {
		made := filepath.Join(s.dir, "template")
		if err := s.initialize(made); err != nil {
			return err
		}
		if err := os.Rename(made, template); err != nil && !isMade() { // another process may have been faster
			return err
		}
	}
	return s.run("cp", "-R", template, s.Data())
}

func (s *Server) initialize(data string) error {
	return s.Run("initdb", "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
}

// Start starts the server and returns when it answers. Settings have the form name=value.
func (s *Server) Start(ctx context.Context, settings ...string) error {
	args := []string{"-D", s.Data(), "-k", s.dir,
		"-c", "listen_addresses=", // the socket only: no port, and no access for others
		"-c", "port=5432", // names the socket; PGPORT would change it
		"-c", "dynamic_shared_memory_type=mmap"} // in the data directory: a server that is killed leaves nothing elsewhere
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := s.command(filepath.Join(s.programs, "postgres"), args...)
	command.Stdout, command.Stderr = log, log
	exited, err := process.Start(command, s.OnThread, func() { _ = command.Wait() }) // how it ended is in its log
	if err != nil {
		return err
	}
	s.process, s.exited = command.Process, exited
	return s.Await(ctx, "SELECT true")
}

// Await repeats a query until its result is true.
func (s *Server) Await(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, hung)
	defer cancel()
	for {
		var yes bool
		err := s.Query(ctx, func(row pgx.Rows) error { return row.Scan(&yes) }, query)
		if err == nil && yes {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-s.exited:
		case <-ctx.Done():
		}
		log, _ := os.ReadFile(s.log())
		return fmt.Errorf("PostgreSQL: %s: %w\n%s", query, errors.Join(err, ctx.Err()), log[max(0, len(log)-4096):])
	}
}

// Query runs a statement on a connection of its own, in the database "postgres".
func (s *Server) Query(ctx context.Context, row func(pgx.Rows) error, sql string) error {
	return Query(ctx, URL("postgres", s), row, sql)
}

// Query runs a statement on a connection of its own, and calls row, if there is one, for every row.
func Query(ctx context.Context, url string, row func(pgx.Rows) error, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if row != nil {
			if err := row(rows); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// URL is the URL of a database: of whichever of several servers can be written to. It names everything
// that pgx would otherwise take from PG* variables.
func URL(database string, servers ...*Server) string {
	var dirs, ports []string
	for _, s := range servers {
		dirs, ports = append(dirs, s.dir), append(ports, "5432")
	}
	q := url.Values{"host": {strings.Join(dirs, ",")}, "port": {strings.Join(ports, ",")}, "user": {"postgres"}, "sslmode": {"disable"}}
	if len(servers) > 1 {
		q.Set("target_session_attrs", "read-write")
	}
	return "postgres:///" + database + "?" + q.Encode()
}

// Running reports whether the server was started and not waited for since.
func (s *Server) Running() bool { return s.process != nil }

// Pid is the process id of the running server; its other processes are children of that one.
func (s *Server) Pid() int { return s.process.Pid }

// Stop ends the server by an immediate shutdown: no checkpoint, as in a crash.
func (s *Server) Stop() error {
	if err := s.process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return s.Wait()
}

// Wait returns when the server has exited. One that does not is killed.
func (s *Server) Wait() (err error) {
	select {
	case <-s.exited:
	case <-time.After(hung):
		err = errors.Join(errors.New("PostgreSQL does not stop"), s.process.Kill())
		<-s.exited
	}
	s.process = nil
	return err
}

// Close ends the server, if it runs, and removes its files.
func (s *Server) Close() error {
	var err error
	if s.Running() {
		err = s.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
