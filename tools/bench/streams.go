//go:build linux

package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// StreamPlan is what a run measures of event streams.
type StreamPlan struct {
	Module   string        // directory of the module, from which the server is built
	Dir      string        // where the databases are made, temporary files otherwise
	Postgres bool          // measure on PostgreSQL too, with two nodes
	Changes  int           // whose way to a subscriber is measured
	Readers  int           // that get every change of a burst
	Burst    int           // changes that all of them get
	Idle     int           // subscribers that wait
	Duration time.Duration // of a turn of the writers
}

// streamed is what was measured on one database.
type streamed struct {
	name       string
	latencies  []time.Duration // from the acknowledgement of a create to its event
	deliveries float64         // per second
	idle       float64         // KiB of the server's memory for each subscriber
	alone      float64         // creates per second of processor time, without subscribers
	watched    float64         // the same with subscribers
}

// Run measures, and prints a table.
func (s *StreamPlan) Run(ctx context.Context, progress, out io.Writer) (err error) {
	p := &Plan{Module: s.Module, Dir: s.Dir, Users: minRows, Rows: minRows, Rounds: 1, Connections: 64, Postgres: s.Postgres, Duration: s.Duration, Processor: true}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(ctx); err != nil {
		return err
	}
	limits := []string{fmt.Sprint("--max-streams=", 2*s.Idle), fmt.Sprint("--max-streams-per-caller=", 2*s.Idle)}
	if err := p.addPlural(ctx, PluralSQLite, p.binary, false, limits...); err != nil {
		return err
	}
	if s.Postgres {
		if err := p.addPlural(ctx, PluralPostgres, p.binary, true, limits...); err != nil {
			return err
		}
		if err := p.addPlural(ctx, PluralPostgres+", other node", p.binary, true, limits...); err != nil {
			return err
		}
		p.servers[2].full = p.servers[1].full
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tevent behind its acknowledgement, p50 / p99\tdeliveries\tidle subscriber\tcreates with subscribers")
	for i, subscribed := range p.servers {
		if err := subscribed.start(ctx, subscribed.full); err != nil {
			return err
		}
		fmt.Fprintln(progress, subscribed.name)
		// On PostgreSQL the last node gets the events of what the one before it writes.
		written := p.servers[max(i-1, min(i, 1))]
		got, err := s.measure(ctx, p, written, subscribed)
		if err != nil {
			return fmt.Errorf("%s: %w", subscribed.name, err)
		}
		got.print(table)
	}
	return table.Flush()
}

func (m *streamed) print(out io.Writer) {
	slices.Sort(m.latencies)
	at := func(share float64) time.Duration {
		return m.latencies[int(share*float64(len(m.latencies)-1))].Round(10 * time.Microsecond)
	}
	fmt.Fprintf(out, "%s\t%v / %v\t%.0f/s\t%.1f KiB\t%.2f\n", m.name, at(0.5), at(0.99), m.deliveries, m.idle, m.watched/m.alone)
}

func (s *StreamPlan) measure(ctx context.Context, p *Plan, written, subscribed *server) (m *streamed, err error) {
	m = &streamed{name: subscribed.name}
	if m.latencies, err = s.latencies(ctx, p, written, subscribed); err != nil {
		return nil, err
	}
	if m.deliveries, err = s.deliveries(ctx, p, written, subscribed); err != nil {
		return nil, err
	}
	if m.alone, err = s.creates(ctx, p, written); err != nil {
		return nil, err
	}
	readers, err := subscribe(ctx, subscribed, s.Readers, func([]byte) {})
	if err != nil {
		return nil, err
	}
	m.watched, err = s.creates(ctx, p, written)
	readers.close()
	if err != nil {
		return nil, err
	}
	m.idle, err = s.idleMemory(ctx, subscribed)
	return m, err
}

// latencies measures how long after the acknowledgement of a create its event comes. It may come
// before, and counts as negative.
func (s *StreamPlan) latencies(ctx context.Context, p *Plan, written, subscribed *server) (all []time.Duration, err error) {
	came := make(chan time.Time, 1)
	reader, err := subscribe(ctx, subscribed, 1, func(line []byte) {
		if strings.HasPrefix(string(line), "event: created") {
			came <- time.Now()
		}
	})
	if err != nil {
		return nil, err
	}
	defer reader.close()
	for range s.Changes {
		if err := postUser(ctx, written, p.serial.Add(1)); err != nil {
			return nil, err
		}
		acknowledged := time.Now()
		select {
		case at := <-came:
			all = append(all, at.Sub(acknowledged))
		case <-time.After(maxStart):
			return nil, errors.New("an event does not come")
		}
	}
	return all, nil
}

// deliveries measures how many events a second all readers together get of a burst.
func (s *StreamPlan) deliveries(ctx context.Context, p *Plan, written, subscribed *server) (float64, error) {
	var got atomic.Int64
	all := make(chan struct{})
	want := int64(s.Readers) * int64(s.Burst)
	readers, err := subscribe(ctx, subscribed, s.Readers, func(line []byte) {
		if strings.HasPrefix(string(line), "event: created") && got.Add(1) == want {
			close(all)
		}
	})
	if err != nil {
		return 0, err
	}
	defer readers.close()
	begun := time.Now()
	var writers sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(s.Burst))
	errs := make([]error, 16)
	for i := range errs {
		writers.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				errs[i] = postUser(ctx, written, p.serial.Add(1))
			}
		})
	}
	writers.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	select {
	case <-all:
		return float64(want) / time.Since(begun).Seconds(), nil
	case <-time.After(maxStart):
		return 0, fmt.Errorf("%d of %d events came", got.Load(), want)
	}
}

// creates measures creates of 64 writers by the processor time of the server.
func (s *StreamPlan) creates(ctx context.Context, p *Plan, written *server) (float64, error) {
	return p.load(written, Measurement{next: (*caller).create, connections: 64}).run(ctx, s.Duration)
}

// idleMemory measures the memory of subscribers that wait, with the server's part of their
// connections.
func (s *StreamPlan) idleMemory(ctx context.Context, subscribed *server) (float64, error) {
	before, err := memory(subscribed.process.Pid(), currentMemory)
	if err != nil {
		return 0, err
	}
	readers, err := subscribe(ctx, subscribed, s.Idle, func([]byte) {})
	if err != nil {
		return 0, err
	}
	defer readers.close()
	after, err := memory(subscribed.process.Pid(), currentMemory)
	return (after - before) * 1024 / float64(s.Idle), err
}

// postUser creates a user.
func postUser(ctx context.Context, s *server, serial int64) error {
	return s.send(ctx, http.MethodPost, "/users", bytes.NewReader(newBody(nil, serial)), http.StatusCreated)
}

// subscriptions are open streams of users.
type subscriptions struct {
	conns   []net.Conn
	reading sync.WaitGroup
}

// subscribe opens streams, and returns when all of them follow changes. Line gets every line that comes
// behind. The filter matches what is created from now on, so that no stream begins with many resources.
func subscribe(ctx context.Context, s *server, n int, line func([]byte)) (*subscriptions, error) {
	all := &subscriptions{}
	for range n {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err != nil {
			all.close()
			return nil, err
		}
		all.conns = append(all.conns, conn)
		since := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(conn, "GET /users?filter[created_at][gte]=%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", since, s.address)
		lines := bufio.NewReaderSize(conn, 4<<10)
		if err := untilSynced(lines); err != nil {
			all.close()
			return nil, err
		}
		all.reading.Go(func() {
			for {
				text, err := lines.ReadSlice('\n')
				if err != nil {
					return
				}
				line(text)
			}
		})
	}
	return all, nil
}

func untilSynced(lines *bufio.Reader) error {
	status, err := lines.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200") {
		rest, _ := lines.Peek(lines.Buffered())
		return fmt.Errorf("a stream is refused: %s%s", status, rest)
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "event: synced") {
			return err
		}
	}
}

func (s *subscriptions) close() {
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.reading.Wait()
}
