package sqlite

import (
	"context"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// TestNoEndIsLost: a read, a migration and the use of a file also end if their context ends just before SQLite begins a statement. Here
// that is while SQLite prepares the statement again, of which the authorizer is told.
func TestNoEndIsLost(t *testing.T) {
	const count = "SELECT count(*) FROM things, (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i FROM n)"
	d := open(t, db.Options{})
	if err := db.Write(context.Background(), d, func(c db.Conn) error {
		_, err := c.Exec("INSERT INTO things (name) VALUES ('a')") // without a row, nothing would be counted
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(ctx context.Context, fn func(db.Conn) error) error{
		"read": func(ctx context.Context, fn func(db.Conn) error) error {
			read, release, err := d.Read(ctx, db.ShortRead)
			if err != nil {
				return err
			}
			defer release()
			return fn(read)
		},
		"migration": d.Migrate,
		"file": func(ctx context.Context, fn func(db.Conn) error) error {
			return inspect(ctx, d.file, func(c *connection) error { return fn(c) })
		},
	} {
		ctx, end := context.WithCancel(context.Background())
		err := use(ctx, func(c db.Conn) error {
			if _, err := c.Exec(count, model.IntValue(1)); err != nil {
				t.Fatal(err)
			}
			raw := c.(*connection).raw
			err := raw.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult {
				if ctx.Err() == nil {
					end()
					time.Sleep(20 * time.Millisecond) // for SQLite to be interrupted; on a busy machine that may come while it counts
				}
				return sqlite.AuthResultOK
			}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Exec(count, model.IntValue(10_000_000))
			if err := raw.SetAuthorizer(nil); err != nil {
				t.Error(err)
			}
			return err
		})
		if sqlite.ErrCode(err) != sqlite.ResultInterrupt || ctx.Err() == nil {
			t.Errorf("%s: got %v, %v", name, err, ctx.Err())
		}
	}
}
