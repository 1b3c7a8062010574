package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestCreationAfterADeletion: a creation with a given id waits for a transaction that deletes the resource with this
// id and takes the revision of the deletion only then. The creation must have the higher revision, in its row as in
// its entry. The revisions of all rows are those of their entries.
func TestCreationAfterADeletion(t *testing.T) {
	users := (*model.Schema)(schema.Example()).Collection("users")
	last, at := users.RevisionColumn(), model.TimeValue("2026-01-02T03:04:05.678Z")
	const shared = 2
	for name, ids := range map[string][]byte{"alone": {2}, "first": {2, 3, 4}, "in the middle": {1, 2, 3}, "last": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			ctx, url := context.Background(), pgtest.URL(t)
			b := open(t, url)
			sql := b.InsertSQL(db.NewTable(b, users), 7, 1)
			insert := func(ids ...byte) (records []model.Record, err error) {
				for _, id := range ids {
					record := make(model.Record, len(users.Columns()))
					record[model.IDColumn], record[users.Field("name").Column] = model.IDValue(model.ID{id}), model.TextValue(fmt.Sprint(id))
					record[users.Field("email").Column] = model.TextValue("ada@example.com")
					record[users.CreatedColumn()], record[users.UpdatedColumn()] = at, at
					records = append(records, record)
				}
				return records, db.Write(ctx, b, func(c db.Conn) error {
					return c.Insert(&db.Insertion{SQL: sql, Collection: users, Records: records, At: at, Caller: model.TextValue("")})
				})
			}
			if _, err := insert(shared); err != nil {
				t.Fatal(err)
			}
			other, err := pgx.Connect(ctx, url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.Close(ctx) }()
			deletion, err := other.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := deletion.Exec(ctx, "DELETE FROM users"); err != nil {
				t.Fatal(err)
			}
			var records []model.Record
			done := make(chan error, 1)
			go func() {
				var err error
				records, err = insert(ids...)
				done <- err
			}()
			for waits := false; !waits; {
				if err := deletion.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid')").Scan(&waits); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-done:
					t.Fatalf("the creation did not wait: %v", err)
				default:
				}
			}
			var deleted int64
			err = deletion.QueryRow(ctx, "INSERT INTO "+db.ChangesTable+" ("+db.EntryColumns+") VALUES (7, $1::text::uuid, 'deleted', now(), '', 1, '') RETURNING revision", model.ID{shared}.String()).Scan(&deleted)
			if err == nil {
				err = deletion.Commit(ctx)
			}
			if err == nil {
				err = <-done
			}
			if err != nil {
				t.Fatal(err)
			}
			var want, rows, entries []string
			for _, record := range records {
				want = append(want, fmt.Sprint(record.ID(model.IDColumn), " ", record.Int(last)))
				if id := record.ID(model.IDColumn); id[0] >= shared && record.Int(last) <= deleted {
					t.Errorf("%s was created by revision %d, after a deletion by revision %d", id, record.Int(last), deleted)
				}
			}
			read := func(to *[]string, sql string) {
				query(t, b, func(row model.Row) { *to = append(*to, fmt.Sprint(row.ID(0), " ", row.Int(1))) }, sql)
			}
			read(&rows, "SELECT id, _revision FROM users ORDER BY id")
			read(&entries, fmt.Sprint("SELECT id, max(revision) FROM ", db.ChangesTable, " WHERE kind = 'created' GROUP BY id ORDER BY id"))
			if fmt.Sprint(rows) != fmt.Sprint(want) || fmt.Sprint(entries) != fmt.Sprint(want) {
				t.Errorf("rows    %q\nentries %q\nwant    %q", rows, entries, want)
			}
		})
	}
}

// TestRevisionsWhileOthersTakeThem: while rows with given ids are inserted, others take revisions, before or after any of the
// rows and their entries, and some rows are in conflict with others. Every row has the revision of its entry.
func TestRevisionsWhileOthersTakeThem(t *testing.T) {
	users := (*model.Schema)(schema.Example()).Collection("users")
	last, at := users.RevisionColumn(), model.TimeValue("2026-01-02T03:04:05.678Z")
	ctx, url := context.Background(), pgtest.URL(t)
	b := open(t, url)
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	// The third and the fourth byte of an id tell how many revisions are taken while its row and its entry are stored.
	for _, sql := range []string{
		"CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
			" FOR i IN 1..get_byte(uuid_send(NEW.id), TG_ARGV[0]::int) LOOP PERFORM " + nextRevision + "; END LOOP; RETURN NEW; END $$",
		"CREATE TRIGGER take BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION take(2)",
		"CREATE TRIGGER take BEFORE INSERT ON " + db.ChangesTable + " FOR EACH ROW EXECUTE FUNCTION take(3)",
	} {
		if _, err := other.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	sql, random := b.InsertSQL(db.NewTable(b, users), 7, 1), rand.New(rand.NewPCG(1, 2))
	want := map[string]int64{}
	for range 40 {
		records := make([]model.Record, 1+random.IntN(12))
		for i := range records {
			id := model.ID{byte(random.IntN(256)), 0, byte(max(0, random.IntN(6)-3)), byte(max(0, random.IntN(6)-3))}
			records[i] = make(model.Record, len(users.Columns()))
			records[i][model.IDColumn], records[i][users.Field("name").Column] = model.IDValue(id), model.TextValue("A")
			records[i][users.Field("email").Column] = model.TextValue("ada@example.com")
			records[i][users.CreatedColumn()], records[i][users.UpdatedColumn()] = at, at
		}
		err := db.Write(ctx, b, func(c db.Conn) error {
			return c.Insert(&db.Insertion{SQL: sql, Collection: users, Records: records, At: at, Caller: model.TextValue("")})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			if !record.Null(last) {
				want[record.ID(model.IDColumn).String()] = record.Int(last)
			}
		}
	}
	for _, from := range []string{"SELECT id, _revision FROM users", "SELECT id, revision FROM " + db.ChangesTable} {
		got := map[string]int64{}
		query(t, b, func(row model.Row) { got[row.ID(0).String()] = row.Int(1) }, from)
		if !maps.Equal(got, want) {
			t.Errorf("%s: got\n%v, want\n%v", from, got, want)
		}
	}
}
