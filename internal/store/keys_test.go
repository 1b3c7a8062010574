package store

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestKeys takes API keys through their life, beside a server that is running.
func TestKeys(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		ctx := context.Background()
		st := open(t, url, (*model.Schema)(schema.Example()))
		ci := auth.StoredKey{Prefix: "aaaaaaaaaa", Hash: "1234", Name: "ci", Role: "editor", Subject: "robot", Created: "2026-11-15T08:00:00.000Z"}
		short := auth.StoredKey{Prefix: "bbbbbbbbbb", Hash: "5678", Name: "x", Role: "author", Subject: "me", Created: "2026-11-15T08:00:00.001Z", Expires: "2026-12-15T08:00:00.000Z"}
		for _, key := range []auth.StoredKey{short, ci} {
			if err := st.AddAPIKey(ctx, key); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.AddAPIKey(ctx, ci); err != nil { // as after a commit without a reply
			t.Errorf("the same key again: %v", err)
		}
		other := ci
		other.Hash = "9999"
		if err := st.AddAPIKey(ctx, other); err == nil || !strings.HasSuffix(err.Error(), "(there is another API key with the prefix aaaaaaaaaa)") {
			t.Errorf("a prefix was taken twice: %v", err)
		}
		if key, err := st.RevokeAPIKey(ctx, "cccccccccc", "2026-11-15T09:00:00.000Z"); key != nil || err != nil {
			t.Errorf("revoking nothing: %v, %v", key, err)
		}
		for _, at := range []string{"2026-11-15T09:00:00.000Z", "2026-11-15T10:00:00.000Z"} { // the first counts
			if key, err := st.RevokeAPIKey(ctx, ci.Prefix, at); key == nil || err != nil {
				t.Fatal(key, err)
			}
		}
		ci.Revoked = "2026-11-15T09:00:00.000Z"
		if got, err := st.APIKeys(ctx); !reflect.DeepEqual(got, []auth.StoredKey{ci, short}) || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		for prefix, want := range map[string]*auth.StoredKey{ci.Prefix: &ci, short.Prefix: &short, "cccccccccc": nil} {
			if got, err := st.APIKey(ctx, prefix); !reflect.DeepEqual(got, want) || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		}
	})
}

// TestKeysOfAnEmptyDatabase: the error says that the database is empty, and how it gets its tables.
func TestKeysOfAnEmptyDatabase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		ctx := context.Background()
		if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		const want = `the database is empty: create its tables first, by "plural migrate" or by starting a server`
		for name, err := range map[string]error{
			"CreateKey":    createKey(ctx, url),
			"RenewHistory": admin.RenewHistory(ctx, url),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		if _, err := migrate.Run(ctx, url, (*model.Schema)(schema.Example()), migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := createKey(ctx, url); err != nil {
			t.Error(err)
		}
	})
}

func createKey(ctx context.Context, url string) error {
	_, err := admin.CreateKey(ctx, url, admin.Key{Name: "ci", Role: "editor"})
	return err
}

// TestChangesSayWhoMadeThem: the change log has the caller of each change.
func TestChangesSayWhoMadeThem(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		users := st.schema.Collection("users")
		insert(t, st, users, `{"name":"Ada","email":"ada@example.com"}`)
		write(t, st, func(tx *Tx) error {
			tx.As("key:aaaaaaaaaa")
			inputs, _, err := users.Decode([]byte(`{"name":"Bo","email":"bo@example.com"}`), model.DecodeOptions{MaxDepth: 9})
			if err != nil {
				return err
			}
			record := inputs[0].Values
			record[model.IDColumn] = model.IDValue(tx.NewID())
			record[users.CreatedColumn()], record[users.UpdatedColumn()] = tx.Now(), tx.Now()
			_, err = tx.Insert(users, record)
			return err
		})
		if _, err := st.AssignNumbers(context.Background()); err != nil {
			t.Fatal(err)
		}
		read(t, st, func(tx *Tx) {
			changes, _, _, err := tx.Log(changelog.Query{Most: 10})
			if err != nil {
				t.Fatal(err)
			}
			var callers []string
			for _, change := range changes {
				callers = append(callers, change.Caller)
			}
			if !reflect.DeepEqual(callers, []string{"", "key:aaaaaaaaaa"}) {
				t.Errorf("the callers are %q", callers)
			}
		})
	})
}
