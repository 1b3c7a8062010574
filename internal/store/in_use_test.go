package store

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/migrate"
)

// TestCommandsOnALockedDatabase: whoever needs to write to a database that another connection has
// locked is told so, and whoever reads it does not mind.
func TestCommandsOnALockedDatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.db")
	url := "sqlite:" + file
	before, after := parse(t, shopsBefore), parse(t, shopsAfter)
	st, err := Open(t.Context(), url, before)
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, st)
	ctx := t.Context()
	backup := filepath.Join(dir, "first.db")
	if err := admin.Backup(ctx, url, backup); err != nil {
		t.Fatal(err)
	}
	lock, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := sqlitex.ExecuteTransient(lock, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		do     func(context.Context) error
		writes bool
	}{
		"CreateKey": {func(ctx context.Context) error { return createKey(ctx, url) }, true},
		"RevokeKey": {func(ctx context.Context) error {
			_, err := admin.RevokeKey(ctx, url, "a")
			return err
		}, true},
		"Migrate": {func(ctx context.Context) error {
			_, err := migrate.Run(ctx, url, after, migrate.Options{})
			return err
		}, true},
		"Restore": {func(ctx context.Context) error {
			return admin.Restore(ctx, url, backup, admin.RestoreOptions{Overwrite: true})
		}, true},
		"Examine and repair": {func(ctx context.Context) error {
			_, err := admin.Examine(ctx, url, admin.ExamineOptions{Repair: true})
			return err
		}, true},
		"Open": {func(ctx context.Context) error {
			_, err := Open(ctx, url, before)
			return err
		}, true},
		"Keys": {func(ctx context.Context) error {
			_, err := admin.Keys(ctx, url)
			return err
		}, false},
		"Plan": {func(ctx context.Context) error {
			_, _, err := migrate.Plan(ctx, url, after, migrate.Whole)
			return err
		}, false},
		"Examine": {func(ctx context.Context) error {
			_, err := admin.Examine(ctx, url, admin.ExamineOptions{})
			return err
		}, false},
		"Backup": {func(ctx context.Context) error { return admin.Backup(ctx, url, filepath.Join(dir, "second.db")) }, false},
		"Copy": {func(ctx context.Context) error {
			_, err := admin.Copy(ctx, url, "sqlite:"+filepath.Join(dir, "third.db"), nil)
			return err
		}, false},
	} {
		all.Go(func() {
			err := c.do(ctx)
			if c.writes && (err == nil || !strings.Contains(err.Error(), "others are using the database")) || !c.writes && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}
