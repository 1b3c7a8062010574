package interfacetest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// countedConnections forwards connections to a database, and counts them.
type countedConnections struct {
	url string

	mutex        sync.Mutex
	all          int
	open, atOnce int
}

func countConnections(t *testing.T, database string) *countedConnections {
	t.Helper()
	parsed, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", parsed.Host
	query := parsed.Query()
	if host := query.Get("host"); host != "" {
		network, address = "unix", host+"/.s.PGSQL."+query.Get("port")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	query.Del("host")
	query.Del("port")
	parsed.Host, parsed.RawQuery = l.Addr().String(), query.Encode()
	c := &countedConnections{url: parsed.String()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial(network, address)
			if err != nil {
				t.Error(err)
				from.Close()
				continue
			}
			c.count(1)
			go func() {
				_, _ = io.Copy(to, from)
				to.Close()
			}()
			go func() {
				_, _ = io.Copy(from, to)
				from.Close()
				c.count(-1)
			}()
		}
	}()
	return c
}

func (c *countedConnections) count(change int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.open += change
	c.all += max(0, change)
	c.atOnce = max(c.atOnce, c.open)
}

// TestConnectionsOfAStart: a server without requests needs one connection each to listen, to read the change log, to execute operations, to
// notify others and to delete what is old. Locks keep the tasks that delete from using a connection one after another by chance.
func TestConnectionsOfAStart(t *testing.T) {
	database := pgtest.URL(t)
	s := start(t, schema.Example(), database)
	stop(t, s.opened, t.Context())
	counted := countConnections(t, database)
	connect := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	locker, watcher := connect(), connect() // a transaction always sees the same activity
	if _, err := locker.Exec(t.Context(), "BEGIN; LOCK TABLE _plural_answers, _plural_queue, operations IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	s.another(func(c *plural.Config) { c.Database = counted.url })
	sessions := func(of string) (count int) {
		t.Helper()
		err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+of).Scan(&count)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	eventually(t, "the server listens, and waits for the locks", func() bool {
		return sessions("query LIKE 'LISTEN %' AND pid <> pg_backend_pid()") == 1 && sessions("wait_event_type = 'Lock'") >= 2
	})
	for range 500 { // a task too many would begin meanwhile
		if waiting := sessions("wait_event_type = 'Lock'"); waiting > 2 { // one to execute operations, one to delete
			t.Fatalf("%d tasks wait for the locks", waiting)
		}
	}
	locker.Close(t.Context())
	counted.mutex.Lock()
	defer counted.mutex.Unlock()
	if counted.all > 5 {
		t.Errorf("%d connections, %d at once", counted.all, counted.atOnce)
	}
}
