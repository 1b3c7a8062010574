package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/schema"
)

// text is an answer that can be kept.
type text string

func (t text) Size() int { return len(t) }

// remembering opens a database with a memory, and a connection of somebody else to it.
func remembering(t *testing.T, size int64) (*Store, *sqlite.Conn) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	st, err := Open(context.Background(), "sqlite:"+file, schema.Example(), Remember(size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if st.memory == nil {
		t.Fatal("there is no memory")
	}
	other, err := openRaw(context.Background(), file, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return st, other
}

// name reads the name of a user, from memory if it is there, and keeps it.
func name(t rapid.TB, st *Store, id schema.ID) (name string, remembered bool) {
	t.Helper()
	key := Key{Collection: st.schema.Collection("users"), ID: id}
	if known, ok := st.Recall(key); ok {
		return string(known.(text)), true
	}
	tx, err := st.Look(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if _, err := tx.View(key.Collection, nil, id, func(row schema.Row) {
		name = string(row.AppendText(nil, key.Collection.Field("name").Column))
	}); err != nil {
		t.Fatal(err)
	}
	tx.Keep(key, func() Kept { return text(name) })
	return name, false
}

// names reads those of all users, likewise.
func names(t rapid.TB, st *Store) (all string, remembered bool) {
	t.Helper()
	key := Key{List: "/users"}
	if known, ok := st.Recall(key); ok {
		return string(known.(text)), true
	}
	tx, err := st.Stream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	users := st.schema.Collection("users")
	rows, err := tx.Select(users, Selection{Order: NewOrder(nil), Take: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		all += string(rows.AppendText(nil, users.Field("name").Column)) + " "
	}
	tx.Keep(key, func() Kept { return text(all) })
	return all, false
}

// setName creates a user, or gives it another name; without a name it is deleted.
func setName(t rapid.TB, st *Store, id schema.ID, name string) {
	t.Helper()
	users := st.schema.Collection("users")
	inTx(t, st, func(tx *Tx) error {
		before, err := tx.Get(users, nil, id)
		if err != nil {
			return err
		}
		after := make(schema.Record, len(users.Columns()))
		after[schema.IDColumn] = schema.IDValue(id)
		after[users.Field("name").Column] = schema.TextValue(name)
		after[users.Field("email").Column] = schema.TextValue(id.String())
		after[users.CreatedColumn()], after[users.UpdatedColumn()] = tx.Now(), tx.Now()
		switch {
		case before == nil && name == "":
		case before == nil:
			_, err = tx.Insert(users, after)
		case name == "":
			_, err = tx.Delete(users, before)
		default:
			_, err = tx.Update(users, before, after)
		}
		return err
	})
}

func TestMemoryModel(t *testing.T) {
	st, other := remembering(t, 1<<20)
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		model := map[byte]string{}
		for user := range byte(4) {
			setName(t, st, userID(user), "")
		}
		serial := 0
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				user, name := rapid.ByteRange(0, 3).Draw(t, "user"), ""
				if rapid.IntRange(0, 3).Draw(t, "gone") > 0 {
					serial++
					name = fmt.Sprint("name", serial)
				}
				setName(t, st, userID(user), name)
				delete(model, user)
				if name != "" {
					model[user] = name
				}
			},
			"undone": func(t *rapid.T) {
				users, user := st.schema.Collection("users"), rapid.ByteRange(0, 3).Draw(t, "user")
				err := st.Write(context.Background(), func(tx *Tx) error {
					if before, err := tx.Get(users, nil, userID(user)); err != nil || before == nil {
						return err
					} else if _, err := tx.Delete(users, before); err != nil {
						return err
					}
					return errUnmet
				})
				if (err != nil) != (model[user] != "") {
					t.Fatal(err)
				}
			},
			"upkeep": func(t *rapid.T) {
				if err := st.TakeUp(context.Background()); err != nil {
					t.Fatal(err)
				}
			},
			"somebody else": func(t *rapid.T) {
				user := rapid.ByteRange(0, 3).Draw(t, "user")
				serial++
				id := userID(user)
				if err := sqlitex.ExecuteTransient(other, "UPDATE users SET name = ? WHERE id = ?", &sqlitex.ExecOptions{Args: []any{fmt.Sprint("other", serial), id[:]}}); err != nil {
					t.Fatal(err)
				}
				if model[user] != "" {
					model[user] = fmt.Sprint("other", serial)
				}
			},
			"checkpoint": func(t *rapid.T) {
				if err := sqlitex.ExecuteTransient(other, "PRAGMA wal_checkpoint(TRUNCATE)", nil); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				var want strings.Builder
				for user := range byte(4) {
					got, remembered := name(t, st, userID(user))
					if got != model[user] {
						t.Fatalf("user %d is %q, and should be %q (remembered: %t)", user, got, model[user], remembered)
					}
					if remembered {
						hits++
					}
					if model[user] != "" {
						want.WriteString(model[user] + " ")
					}
				}
				for range 3 { // it is kept when it is asked for again
					if got, remembered := names(t, st); got != want.String() {
						t.Fatalf("all are %q, and should be %q (remembered: %t)", got, want.String(), remembered)
					} else if remembered {
						hits++
					}
				}
			},
		})
	})
	if hits < 100 {
		t.Errorf("only %d answers came from memory", hits)
	}
}

// Whoever asks after a write was acknowledged gets what it has left, or later.
func TestMemoryIsNeverBehind(t *testing.T) {
	st, other := remembering(t, 1<<20)
	var acknowledged [2]atomic.Int64
	var hits atomic.Int64
	value := func(serial int64) string { return fmt.Sprintf("%09d", serial) }
	for user := range byte(2) {
		setName(t, st, userID(user), value(0))
	}
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for user := range byte(2) {
					least := value(acknowledged[user].Load())
					got, remembered := name(t, st, userID(user))
					if got < least {
						t.Errorf("user %d was %s, and %s was acknowledged (remembered: %t)", user, got, least, remembered)
						return
					}
					if remembered {
						hits.Add(1)
					}
				}
			}
		})
	}
	writers.Go(func() {
		for serial := int64(1); serial <= 200; serial++ {
			setName(t, st, userID(0), value(serial))
			acknowledged[0].Store(serial)
		}
	})
	writers.Go(func() { // another process would do the same
		id := userID(1)
		for serial := int64(1); serial <= 10; serial++ {
			if err := sqlitex.ExecuteTransient(other, "UPDATE users SET name = ? WHERE id = ?", &sqlitex.ExecOptions{Args: []any{value(serial), id[:]}}); err != nil {
				t.Error(err)
				return
			}
			acknowledged[1].Store(serial)
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	if hits.Load() == 0 {
		t.Error("no answer came from memory")
	}
}

// A transaction that changes nothing leaves the state as it is, and what is there behind it
// is another's.
func TestMemoryTellsOurCommitsFromOthers(t *testing.T) {
	st, other := remembering(t, 1<<20)
	id := userID(1)
	setName(t, st, id, "old")
	name(t, st, id)
	if got, remembered := name(t, st, id); got != "old" || !remembered {
		t.Fatalf("got %q, remembered: %t", got, remembered)
	}
	writer := st.backend.(*sqliteBackend).writer
	if err := writer.conn.beginWriting(); err != nil {
		t.Fatal(err)
	}
	foreign := func() error { return sqlitex.ExecuteTransient(other, "UPDATE users SET name = 'new'", nil) }
	if err := st.memory.commit(foreign, writer.alone, nil, false); err != nil {
		t.Fatal(err)
	}
	if got, _ := name(t, st, id); got != "new" {
		t.Errorf("got %q", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 100 * (overhead + 100)
	st, _ := remembering(t, limit)
	users := st.schema.Collection("users")
	keep := func(id schema.ID, size int) {
		tx, err := st.Look(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Close()
		if _, err := tx.View(users, nil, id, nil); err != nil {
			t.Fatal(err)
		}
		tx.Keep(Key{Collection: users, ID: id}, func() Kept { return text(strings.Repeat("x", size)) })
	}
	for i := range 250 {
		keep(schema.ID{14: byte(i >> 8), 15: byte(i)}, 100)
	}
	if got := len(st.memory.resources); got != 100 || st.memory.size != limit {
		t.Errorf("%d answers of %d bytes are kept", got, st.memory.size)
	}
	last := Key{Collection: users, ID: schema.ID{15: 249}}
	if _, ok := st.Recall(last); !ok {
		t.Error("the last one is not kept")
	}
	large := schema.ID{0: 1}
	if keep(large, limit/maxShare); len(st.memory.resources) != 100 {
		t.Error("a large answer made others be forgotten")
	}
	if _, ok := st.Recall(Key{Collection: users, ID: large}); ok {
		t.Error("a large answer is kept")
	}
}

// The schema is not asked for as long as nobody else has written, and is when somebody has.
func TestMemoryKnowsOfTheSchema(t *testing.T) {
	st, other := remembering(t, 1<<20)
	setName(t, st, userID(1), "Ada")
	if got, _ := name(t, st, userID(1)); got != "Ada" {
		t.Fatalf("got %q", got)
	}
	if _, remembered := name(t, st, userID(1)); !remembered {
		t.Fatal("not remembered")
	}
	early, err := st.Look(context.Background()) // whose snapshot is not taken yet
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	if err := sqlitex.ExecuteTransient(other, "INSERT INTO _plural_schemas SELECT version + 1, at, replace(document, 'users', 'people') FROM _plural_schemas", nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := st.Recall(Key{Collection: st.schema.Collection("users"), ID: userID(1)}); ok {
		t.Error("it is remembered by another schema")
	}
	if _, err := early.View(st.schema.Collection("users"), nil, userID(1), nil); err == nil || !strings.HasPrefix(err.Error(), "unavailable: The database has another schema") {
		t.Errorf("reading what began before: %v", err)
	}
	if _, err := st.Look(context.Background()); err == nil || !strings.HasPrefix(err.Error(), "unavailable: The database has another schema") {
		t.Errorf("reading: %v", err)
	}
	if err := st.Write(context.Background(), func(*Tx) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "unavailable: The database has another schema") {
		t.Errorf("writing: %v", err)
	}
}
