package sqlite

import (
	"context"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// TestNoEndIsLost: a read also ends if its context ends just before SQLite begins a statement. Here that is while SQLite
// prepares the statement again, of which the authorizer is told.
func TestNoEndIsLost(t *testing.T) {
	const count = "SELECT count(*) FROM things, (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i FROM n)"
	d := open(t, db.Options{})
	ctx, end := context.WithCancel(context.Background())
	read, release, err := d.Read(ctx, db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := read.Exec(count, model.IntValue(1)); err != nil {
		t.Fatal(err)
	}
	raw := read.(*connection).raw
	err = raw.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult {
		if ctx.Err() == nil {
			end()
			time.Sleep(20 * time.Millisecond) // until SQLite is interrupted
		}
		return sqlite.AuthResultOK
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Exec(count, model.IntValue(10_000_000)); sqlite.ErrCode(err) != sqlite.ResultInterrupt || ctx.Err() == nil {
		t.Errorf("got %v, %v", err, ctx.Err())
	}
	if err := raw.SetAuthorizer(nil); err != nil {
		t.Fatal(err)
	}
}
