package pgserver

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/process"
)

// StartPooler starts a PgBouncer for the server, with its settings but for a pool_mode, and returns the URL of the database
// "postgres" through it. Stop ends it.
func (s *Server) StartPooler(ctx context.Context, mode string) (through string, stop func(), err error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // which is not in the PATH of every user
	}
	const port = "6432" // names the socket
	settings, log := filepath.Join(s.dir, "pgbouncer-"+mode+".ini"), filepath.Join(s.dir, "pgbouncer-"+mode+".log")
	text := "[databases]\n* = host=" + s.dir + " port=5432 user=postgres\n" +
		"[pgbouncer]\nlisten_port = " + port + "\nunix_socket_dir = " + s.dir + "\nauth_type = any\npool_mode = " + mode + "\n"
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil { // #nosec G306 -- another user reads it
		return "", nil, err
	}
	out, err := os.Create(log)
	if err != nil {
		return "", nil, err
	}
	defer out.Close()
	command := s.command(program, settings)
	command.Stdout, command.Stderr = out, out
	exited, err := process.Start(command, nil, func() { _ = command.Wait() })
	if err != nil {
		return "", nil, fmt.Errorf("PgBouncer is needed: run `make setup`, or install it (Debian, Ubuntu: apt-get install pgbouncer): %w", err)
	}
	stop = func() {
		_ = command.Process.Kill()
		<-exited
	}
	through = "postgres:///postgres?" + url.Values{"host": {s.dir}, "port": {port}, "user": {"postgres"}, "sslmode": {"disable"}}.Encode()
	ctx, cancel := context.WithTimeout(ctx, hung)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, through)
		if err == nil {
			return through, stop, c.Close(ctx)
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-exited:
		case <-ctx.Done():
			stop()
		}
		text, _ := os.ReadFile(log) // #nosec G304 -- a file of ours
		return "", nil, fmt.Errorf("PgBouncer: %w\n%s", err, text)
	}
}
