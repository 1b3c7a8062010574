package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// notified runs Notify until the test ends, and returns what it calls.
func notified(t *testing.T, st *Store) (changed chan struct{}, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	changed, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- st.Notify(ctx, func() {
			select {
			case changed <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	done := false
	end = func() {
		if !done {
			done = true
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(end)
	return changed, end
}

// until writes until something happens: a server may begin to listen at any time.
func until(t *testing.T, st *Store, users *model.Collection, happened <-chan struct{}) {
	t.Helper()
	for i := 0; ; i++ {
		insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%s-%d@example.com"}`, st.NewID(), i))
		select {
		case <-happened:
			return
		default:
		}
	}
}

// TestNotify: a server notices its own changes.
func TestNotify(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	eachStore(t, s, func(t *testing.T, st *Store) {
		one, endOne := notified(t, st)
		two, _ := notified(t, st)
		until(t, st, s.Collection("users"), one)
		endOne()
		until(t, st, s.Collection("users"), two)
	})
}

const listens = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'direct' AND query LIKE 'LISTEN%'"

// TestNotifyOfOthers: a server hears of changes that others make, also after it has lost the connection
// on which it listens, which is made by the direct URL.
func TestNotifyOfOthers(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	url := pgtest.URL(t)
	writer := open(t, url, s)
	st, err := Open(context.Background(), with(t, url, "application_name", "pooled"), s, ListenAt(with(t, url, "application_name", "direct")))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, st)
	changed, end := notified(t, st)
	<-changed // it listens
	if n := execute(t, url, "SELECT 1 "+listens); n != 1 {
		t.Errorf("%d connections listen", n)
	}
	notified(t, writer) // it tells others, as every server does
	until(t, writer, users, changed)
	if n := execute(t, url, "SELECT pg_terminate_backend(pid, 10000) "+listens); n != 1 {
		t.Errorf("%d connections were terminated", n)
	}
	<-changed // it listens again, and may have missed something
	until(t, writer, users, changed)
	end()
	for execute(t, url, "SELECT 1 "+listens) != 0 {
	}
}

// TestListenAt: what cannot be used is refused at once.
func TestListenAt(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	for _, c := range []struct{ url, direct, want string }{
		{"sqlite:" + t.TempDir() + "/test.db", "postgres://localhost/x", "a direct URL of the database is given, which is for PostgreSQL: leave it out"},
		{pgtest.URL(t), "postgres://localhost:x/x", "the direct URL: the database URL cannot be used: the port after the host is not a number." +
			" If that is part of the password, write its / as %2F, ? as %3F and # as %23. It should be like postgres://user@host/database"},
	} {
		st, err := Open(context.Background(), c.url, s, ListenAt(c.direct))
		if err == nil {
			closeStore(t, st)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
