package interfacetest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

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
// notify others and to delete what is old.
func TestConnectionsOfAStart(t *testing.T) {
	database := pgtest.URL(t)
	counted := countConnections(t, database)
	s := start(t, schema.Example(), counted.url)
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	eventually(t, "the server listens", func() (listens bool) {
		err := c.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %')").Scan(&listens)
		return err == nil && listens
	})
	s.get("/-/health").expect(t, 200, `{"status":"ok"}`)
	counted.mutex.Lock()
	defer counted.mutex.Unlock()
	if counted.all > 5 {
		t.Errorf("%d connections, %d at once", counted.all, counted.atOnce)
	}
}
