package processtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
)

func parse(t *testing.T, text string) *schema.File {
	t.Helper()
	file, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// call is a call of the library that opens the database of a server in the same process.
type call struct {
	name  string
	do    func(ctx context.Context, config plural.Config, dir string) error
	check func(t *testing.T, dir string, l *load, succeeded bool)
}

func calls(t *testing.T) []call {
	afterwards, access := parse(t, schemaAfter).Schema, parse(t, schemaBefore+roles).Access
	backup := func(t *testing.T, dir string, l *load, succeeded bool) {
		t.Helper()
		l.check(t, stored(t, filepath.Join(dir, databaseFile), "title"))
		if succeeded {
			l.checkCopy(t, stored(t, filepath.Join(dir, "copy.db"), "title"))
		}
	}
	return []call{
		{name: "Keys", do: func(ctx context.Context, config plural.Config, _ string) error {
			for range 5 {
				if _, err := admin.Keys(ctx, config.Database); err != nil {
					return err
				}
				runtime.GC() // closes files that nobody holds
			}
			return nil
		}},
		{name: "CreateAPIKey and RevokeAPIKey", do: func(ctx context.Context, config plural.Config, _ string) error {
			for range 3 {
				secret, err := admin.CreateKey(ctx, config.Database, admin.Key{Name: "a", Role: "reader"})
				if err != nil {
					return err
				}
				if _, err := admin.RevokeKey(ctx, config.Database, secret); err != nil {
					return err
				}
				runtime.GC()
			}
			return nil
		}},
		{name: "Examine", do: func(ctx context.Context, config plural.Config, _ string) error {
			findings, err := admin.Examine(ctx, config.Database, admin.ExamineOptions{})
			return errors.Join(err, noFindings(findings))
		}},
		{name: "Examine and repair", do: func(ctx context.Context, config plural.Config, _ string) error {
			findings, err := admin.Examine(ctx, config.Database, admin.ExamineOptions{Repair: true})
			return errors.Join(err, noFindings(findings))
		}},
		{name: "Backup", do: func(ctx context.Context, config plural.Config, dir string) error {
			return admin.Backup(ctx, config.Database, filepath.Join(dir, "copy.db"))
		}, check: backup},
		{name: "Copy", do: func(ctx context.Context, config plural.Config, dir string) error {
			_, err := admin.Copy(ctx, config.Database, "sqlite:"+filepath.Join(dir, "copy.db"), nil)
			return err
		}, check: backup},
		{name: "Restore", do: func(ctx context.Context, config plural.Config, dir string) error {
			return admin.Restore(ctx, config.Database, filepath.Join(dir, "first.db"), admin.RestoreOptions{Overwrite: true})
		}, check: func(t *testing.T, dir string, l *load, succeeded bool) {
			titles := stored(t, filepath.Join(dir, databaseFile), "title")
			if succeeded {
				l.checkRestored(t, titles)
			} else {
				l.check(t, titles)
			}
		}},
		{name: "PlanMigration", do: func(ctx context.Context, config plural.Config, _ string) error {
			config.Schema = afterwards
			_, err := admin.PlanMigration(ctx, config.Database, config.Schema)
			return err
		}},
		{name: "Migrate", do: func(ctx context.Context, config plural.Config, _ string) error {
			config.Schema = afterwards
			_, err := admin.Migrate(ctx, config.Database, config.Schema, admin.MigrateOptions{})
			return err
		}, check: func(t *testing.T, dir string, l *load, succeeded bool) {
			column := "title"
			if succeeded {
				column = "heading"
			}
			l.check(t, stored(t, filepath.Join(dir, databaseFile), column))
		}},
		{name: "Can", do: func(ctx context.Context, config plural.Config, _ string) error {
			config.Access = access
			for range 3 {
				_, _, err := plural.Can(ctx, config, plural.Question{Role: "reader", Verb: "read", Collection: "notes", ID: "018f4e5c-0000-7000-8000-000000000000"})
				if err == nil || !strings.Contains(err.Error(), "there is no resource") {
					return errors.Join(err, errors.New("a resource was found that was never made"))
				}
				runtime.GC()
			}
			return nil
		}},
		{name: "Keys and commands by turns", do: callsAndCommands},
		{name: "a second Server", do: func(ctx context.Context, config plural.Config, _ string) error {
			for range 3 {
				second, err := plural.Open(ctx, config)
				if err == nil {
					err = second.Stop(ctx)
				}
				if err != nil {
					return err
				}
				runtime.GC()
			}
			return nil
		}},
	}
}

// callsAndCommands runs calls in this process and commands in others by turns. A process that has
// lost its locks is harmed by the next one that opens the database.
func callsAndCommands(ctx context.Context, config plural.Config, dir string) error {
	for range 3 {
		if _, err := admin.Keys(ctx, config.Database); err != nil {
			return err
		}
		runtime.GC()
		for _, args := range [][]string{{"keys", "list"}, {"doctor"}} {
			if out, err := run(dir, nil, onDatabase(args...)(dir, "")...); err != nil {
				return fmt.Errorf("%v: %w\n%s", args, err, out)
			}
		}
	}
	return nil
}

func noFindings(findings []string) error {
	if len(findings) > 0 {
		return errors.New(strings.Join(findings, "; "))
	}
	return nil
}

// TestCallsDuringAServer: no call of the library harms a database that a server of the
// same process is writing to, and each succeeds or says why not.
func TestCallsDuringAServer(t *testing.T) {
	for _, c := range calls(t) {
		t.Run(c.name, func(t *testing.T) {
			dir := home(t)
			config := plural.Config{Schema: parse(t, schemaBefore).Schema, Database: "sqlite:" + filepath.Join(dir, databaseFile), Logger: slog.New(slog.DiscardHandler)}
			seeded(t, filepath.Join(dir, databaseFile))
			server, err := plural.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			listener := httptest.NewServer(server)
			defer listener.Close()
			if err := admin.Backup(t.Context(), config.Database, filepath.Join(dir, "first.db")); err != nil {
				t.Fatal(err)
			}
			l := startLoad(t, listener.URL)
			l.beside(t, func() { err = c.do(t.Context(), config, dir) })
			listener.Close()
			if err := server.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			if err != nil && !strings.Contains(err.Error(), inUse) {
				t.Error(err)
			}
			if c.check != nil {
				c.check(t, dir, l, err == nil)
			} else {
				l.check(t, stored(t, filepath.Join(dir, databaseFile), "title"))
			}
			findings, err := admin.Examine(t.Context(), config.Database, admin.ExamineOptions{})
			if err := errors.Join(err, noFindings(findings)); err != nil {
				t.Error(err)
			}
			t.Log(l)
		})
	}
}
