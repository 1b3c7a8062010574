package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/schema"
)

// givenTrace is a tracer whose traceparent is a value of the context. It has no spans.
type givenTrace struct{}

type givenKey struct{}

func (givenTrace) Continue(ctx context.Context, _, _ string) context.Context { return ctx }

func (givenTrace) Start(ctx context.Context, _, _ string, _ ...slog.Attr) (context.Context, tracing.Span) {
	return ctx, nil
}

func (givenTrace) Traceparent(ctx context.Context) string {
	text, _ := ctx.Value(givenKey{}).(string)
	return text
}

const (
	sampledTrace   = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	unsampledTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// TestTracesInTheLog: each change of a sampled write has its trace, and one that is not sampled is stored byte for byte as without a
// tracer. The evidence of a commit finds each.
func TestTracesInTheLog(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	id := model.ID{15: 1}
	rows := map[string][]string{} // what is stored, by the database and the trace
	for _, trace := range []string{"", unsampledTrace, sampledTrace} {
		t.Run("trace "+trace, func(t *testing.T) {
			eachStore(t, s, func(t *testing.T, st *Store) {
				if trace != "" {
					st.tracer = givenTrace{}
				}
				st.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }
				ctx := context.WithValue(t.Context(), givenKey{}, trace)
				change := func(fn func(*Tx) error) {
					t.Helper()
					var evidence *db.Statement
					err := st.WriteAs(ctx, WriteOptions{}, func(tx *Tx) error {
						tx.As("token:ada")
						err := fn(tx)
						if err == nil {
							evidence = tx.bound.log.Evidence(tx.last)
						}
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
					read(t, st, func(tx *Tx) {
						n, err := db.Int(tx.conn, "SELECT count(*) FROM "+db.ChangesTable+" WHERE "+evidence.SQL, evidence.Args...)
						if err != nil || n != 1 {
							t.Errorf("the evidence finds %d changes: %v", n, err)
						}
					})
				}
				ada := make(model.Record, len(users.Columns()))
				ada[model.IDColumn], ada[users.Field("name").Column], ada[users.Field("email").Column] = model.IDValue(id), model.TextValue("Ada"), model.TextValue("ada@example.com")
				ada[users.Field("active").Column], ada[users.CreatedColumn()], ada[users.UpdatedColumn()] = model.BoolValue(true), st.timestamp(), st.timestamp()
				change(func(tx *Tx) error { _, err := tx.Insert(users, ada); return err })
				renamed := slices.Clone(ada)
				renamed[users.Field("name").Column] = model.TextValue("Bea")
				change(func(tx *Tx) error { _, err := tx.Update(users, ada, renamed); return err })
				change(func(tx *Tx) error {
					_, err := tx.DeleteSet(Set{Collection: users, IDs: []model.ID{id}})
					return err
				})
				kind := st.name
				read(t, st, func(tx *Tx) {
					size := map[string]string{"sqlite": "length(kind) + length(caller) + length(previous)", "postgresql": "pg_column_size(log.*)"}[kind]
					got, err := db.All(tx.conn, func(row model.Row) string {
						return fmt.Sprintf("%s by %s, %s, schema %d, %d bytes", row.Text(0), row.Text(1), row.Text(2), row.Int(3), row.Int(4))
					}, "SELECT kind, caller, previous, schema, "+size+" FROM "+db.ChangesTable+" AS log ORDER BY revision")
					if err != nil {
						t.Fatal(err)
					}
					rows[kind+trace] = got
				})
				sequence(t, st)
				read(t, st, func(tx *Tx) {
					entries, _, _, err := tx.Log(changelog.Query{Most: 10})
					if err != nil || len(entries) != 3 {
						t.Fatal(len(entries), err)
					}
					want := trace
					if trace == unsampledTrace {
						want = ""
					}
					for _, e := range entries {
						if e.Caller != "token:ada" || e.Traceparent != want {
							t.Errorf("%s is by %q in the trace %q", e.Kind, e.Caller, e.Traceparent)
						}
					}
				})
			})
		})
	}
	for _, kind := range []string{"sqlite", "postgresql"} {
		if len(rows[kind]) != 3 || !slices.Equal(rows[kind], rows[kind+unsampledTrace]) {
			t.Errorf("without a tracer\n%s\nand with one\n%s", strings.Join(rows[kind], "\n"), strings.Join(rows[kind+unsampledTrace], "\n"))
		}
		for i, row := range rows[kind+sampledTrace] {
			if !strings.Contains(row, " by "+sampledTrace+" token:ada,") {
				t.Errorf("%d: %s", i, row)
			}
		}
	}
}

// TestTracesInTheQueue: the request of an operation is in a trace, and its caller is who it was.
func TestTracesInTheQueue(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	eachStore(t, s, func(t *testing.T, st *Store) {
		st.tracer = givenTrace{}
		for i, trace := range []string{sampledTrace, unsampledTrace} {
			ctx, operation, resource := context.WithValue(t.Context(), givenKey{}, trace), model.ID{15: byte(i)}, model.ID{0: 1, 15: byte(i)}
			caller := `{"id":"token:ada"}`
			if err := st.Write(ctx, func(tx *Tx) error {
				return tx.Enqueue(Job{Operation: operation, Caller: caller, Method: "POST", Collection: "users", Resource: resource}, nil)
			}); err != nil {
				t.Fatal(err)
			}
			read(t, st, func(tx *Tx) {
				jobs, err := tx.Unfinished(s.Collection("users"), resource)
				_, by, found, failed := tx.Creating(s.Collection("users"), resource)
				want := trace
				if trace == unsampledTrace {
					want = ""
				}
				if err != nil || failed != nil || len(jobs) != 1 || jobs[0].Traceparent != want || jobs[0].Caller != caller || !found || by != caller {
					t.Errorf("%+v, %q, %v, %v", jobs, by, err, failed)
				}
			})
		}
	})
}
