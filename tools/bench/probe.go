//go:build linux

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/pgserver"
)

// cascade measures how long the deletion of a project takes whose issues are deleted with it, and by how
// much it raises the peak of the server's memory above what an idle server takes.
func (p *Plan) cascade(ctx context.Context, s *server) ([]float64, error) {
	project := fmt.Sprintf("01900000-0000-7000-9000-%012x", p.serial.Add(1))
	if err := s.send(ctx, http.MethodPost, "/projects", strings.NewReader(fmt.Sprintf(`{"id":%q,"name":"Large"}`, project)), http.StatusCreated); err != nil {
		return nil, err
	}
	if err := s.create(ctx, "issues", 0, p.Children, func(row int) string { return issueBody(project, row) }); err != nil {
		return nil, err
	}
	if _, err := p.restart(ctx, s, s.full); err != nil {
		return nil, err
	}
	idle, err := p.idleMemory(s)
	if err != nil {
		return nil, err
	}
	clock := p.clock(s)
	before, err := clock()
	if err != nil {
		return nil, err
	}
	if err := s.send(ctx, http.MethodDelete, "/projects/"+project, nil, http.StatusOK); err != nil {
		return nil, err
	}
	after, err := clock()
	if err != nil {
		return nil, err
	}
	peak, err := memory(s.process.Pid(), peakMemory)
	return []float64{(after - before).Seconds(), peak - idle}, err
}

// importRows measures how many rows "plural import" writes in a second into an empty database with the
// schema of the example, and what each takes there.
func (p *Plan) importRows(ctx context.Context, s *server) ([]float64, error) {
	dir, err := os.MkdirTemp(p.home, "import") // without a schema file, so that it is the example
	if err != nil {
		return nil, err
	}
	rows := filepath.Join(dir, "users.ndjson")
	if err := p.writeRows(rows); err != nil {
		return nil, err
	}
	database, err := p.newDatabase(ctx, s.postgres)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, s.binary, "import", "users", rows, "--database="+database)
	command.Dir = dir
	begun := time.Now()
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	took := time.Since(begun)
	size, err := p.databaseSize(ctx, database)
	if err != nil {
		return nil, err
	}
	return []float64{float64(p.Rows) / took.Seconds(), float64(size) / float64(p.Rows)}, os.RemoveAll(dir)
}

func (p *Plan) writeRows(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for row := range p.Rows {
		fmt.Fprintf(out, `{"name":%q,"email":%q,"active":%t}`+"\n", rowName(row), rowEmail(row), rowActive(row))
	}
	return out.Flush()
}

// databaseSize is the size of a database that no process uses, in bytes; on PostgreSQL without that of an
// empty one.
func (p *Plan) databaseSize(ctx context.Context, database string) (size int64, err error) {
	if file, ok := strings.CutPrefix(database, sqliteURL); ok {
		info, err := os.Stat(file)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	err = pgserver.Query(ctx, database, func(rows pgx.Rows) error { return rows.Scan(&size) },
		"SELECT pg_database_size(current_database()) - pg_database_size('template1')")
	return size, err
}

// startUp measures how long a server takes to its first response, and the memory that it takes with an empty
// database.
func (p *Plan) startUp(ctx context.Context, s *server) ([]float64, error) {
	started, err := p.restart(ctx, s, s.full)
	if err != nil {
		return nil, err
	}
	if _, err := p.restart(ctx, s, s.empty); err != nil {
		return nil, err
	}
	idle, err := p.idleMemory(s)
	if err != nil {
		return nil, err
	}
	_, err = p.restart(ctx, s, s.full)
	return []float64{started.Seconds() * 1000, idle}, err
}

// memory measures the peak of a server's memory: while 64 clients read and write, while it sends all users,
// and with uploads that stall.
func (p *Plan) memory(ctx context.Context, s *server) (peaks []float64, err error) {
	for _, load := range []func() error{
		func() error {
			_, err := p.load(s, Measurement{next: (*caller).anything, connections: 64}).run(ctx, p.Duration)
			return err
		},
		func() error {
			_, err := p.load(s, Measurement{next: (*caller).export, connections: 1, bytes: true}).run(ctx, 0)
			return err
		},
		func() error { return stallUploads(ctx, s.address, stalledTurns*p.Duration) },
	} {
		if _, err := p.restart(ctx, s, s.full); err != nil {
			return nil, err
		}
		if err := load(); err != nil {
			return nil, err
		}
		peak, err := memory(s.process.Pid(), peakMemory)
		if err != nil {
			return nil, err
		}
		peaks = append(peaks, peak)
	}
	_, err = p.restart(ctx, s, s.full)
	return peaks, err
}

const (
	stalledUploads = 400
	uploadSize     = 1 << 20 // the default of max_body
	// A server refuses what waits for memory for 5 s, and cancels slow bodies if others need their memory.
	stalledTurns = 10
)

// stallUploads begins uploads of which the last byte never comes, and keeps them for a while, or until the
// server has answered.
func stallUploads(ctx context.Context, address string, duration time.Duration) error {
	head := fmt.Sprintf("POST /users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", uploadSize)
	upload := []byte(head + strings.Repeat(" ", uploadSize-1))
	var all sync.WaitGroup
	defer all.Wait()
	for range stalledUploads {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		all.Go(func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(duration)) // of a connection that is open
			if _, err := conn.Write(upload); err == nil {
				_, _ = io.Copy(io.Discard, conn) // a refusal, or nothing
			}
		})
	}
	return nil
}

// restart starts a server anew, and returns how long it took until its first
// answer.
func (p *Plan) restart(ctx context.Context, s *server, database string) (time.Duration, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := s.start(ctx, database); err != nil {
		return 0, err
	}
	first, err := dial(s.address, s.isStatic())
	if err != nil {
		return 0, err
	}
	defer first.conn.Close()
	caller := newCaller(p.Users, p.Rows, 1, &p.serial)
	if database == s.full {
		caller.get()
	} else {
		caller.list("limit=30", 0, 0, false)
	}
	err = first.do(&caller.call)
	return time.Since(started), err
}

// idleMemory is what a server takes that was left alone for a while.
func (p *Plan) idleMemory(s *server) (float64, error) {
	time.Sleep(p.Duration / 4)
	return memory(s.process.Pid(), currentMemory)
}
