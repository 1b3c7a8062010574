package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

const emptyBefore = `
collections:
  users:
    attributes:
      name: {type: string}
      note: {type: object}
  drafts:
    attributes:
      text: {type: string}
      size: {type: string}
`

// openWith opens a store as a server does, and returns the steps that it applied, or those that it refused to apply.
func openWith(t *testing.T, url, yaml string) (st *Store, applied, refused []string) {
	t.Helper()
	st, err := Open(context.Background(), url, parse(t, yaml), MigrateAdditive(func(step *migrate.Step) { applied = append(applied, step.Text) }))
	var misfit *db.MisfitError
	if errors.As(err, &misfit) {
		return nil, nil, misfit.Differences
	}
	if err != nil {
		t.Fatal(err)
	}
	return st, applied, nil
}

// TestEmptyNeedsNoPermission: a server changes and removes by itself what has no value, in resources, changes and pending operations.
func TestEmptyNeedsNoPermission(t *testing.T) {
	const withoutDrafts = "collections: {users: {attributes: {name: {type: string}, note: {type: object}}}}"
	withUsers := func(attributes string) string {
		return strings.Replace(emptyBefore, "\n      name: {type: string}\n      note: {type: object}", attributes, 1)
	}
	withoutName := withUsers("\n      note: {type: object}")
	nulls := `{"note":{"4":null,"5":null,"6":null,"7":null,"8":null,"9":null}}`
	update := func(t *testing.T, st *Store, c *model.Collection, before, body string) model.Record {
		after := record(t, c, body)
		old := insert(t, st, c, before)
		after[model.IDColumn], after[c.CreatedColumn()], after[c.UpdatedColumn()] = old[model.IDColumn], old[c.CreatedColumn()], old[c.UpdatedColumn()]
		write(t, st, func(tx *Tx) error { _, err := tx.Update(c, old, after); return err })
		return after
	}
	for name, c := range map[string]struct {
		rows    func(t *testing.T, st *Store, users, drafts *model.Collection)
		after   string
		applied []string
		refused []string
	}{
		"a collection": {nil, withoutDrafts, []string{"collection drafts is removed"}, nil},
		"a collection with a resource": {
			func(t *testing.T, st *Store, _, drafts *model.Collection) { insert(t, st, drafts, `{}`) },
			withoutDrafts, nil, []string{"collection drafts is removed (losing)"},
		},
		"a collection that had a resource": {
			func(t *testing.T, st *Store, _, drafts *model.Collection) {
				gone := insert(t, st, drafts, `{}`)
				write(t, st, func(tx *Tx) error { _, err := tx.Delete(drafts, gone); return err })
			},
			withoutDrafts, nil, []string{"collection drafts is removed (losing)"},
		},
		"a collection with a pending operation": {
			func(t *testing.T, st *Store, _, _ *model.Collection) {
				write(t, st, func(tx *Tx) error {
					return tx.Enqueue(Job{Operation: tx.NewID(), Collection: "drafts", Resource: tx.NewID(), Method: "POST", Body: `{}`}, nil)
				})
			},
			withoutDrafts, nil, []string{"collection drafts is removed (losing)"},
		},
		"all of a collection": {
			func(t *testing.T, st *Store, users, _ *model.Collection) { insert(t, st, users, `{"name":"Ada"}`) },
			strings.Replace(emptyBefore, "  drafts:\n    attributes:\n      text: {type: string}\n      size: {type: string}\n",
				"  texts: {renamed_from: drafts, timestamps: false, attributes: {body: {type: string, renamed_from: text, maxLength: 9}, size: {type: integer}, by: {references: users}}, required: [size, by], unique: [body]}\n", 1),
			[]string{
				"collection drafts is renamed to texts", "texts: the singular becomes text", "texts: attribute text is renamed to body", "texts: body is restricted by maxLength",
				"texts: size is converted from string to integer", "texts: size becomes required", "texts: new attribute by (refers to users), which is required and has no default for existing resources",
				"texts: created_at and updated_at are removed", "texts: values of body must be unique",
			}, nil,
		},
		"an attribute": {
			func(t *testing.T, st *Store, users, _ *model.Collection) { insert(t, st, users, `{"note":{"a":1}}`) },
			withoutName, []string{"users: attribute name is removed"}, nil,
		},
		"an attribute with a value": {
			func(t *testing.T, st *Store, users, _ *model.Collection) { insert(t, st, users, `{"name":"Ada"}`) },
			withoutName, nil, []string{"users: attribute name is removed (losing)"},
		},
		"an attribute with a former value": {
			func(t *testing.T, st *Store, users, _ *model.Collection) {
				update(t, st, users, `{"name":"Ada",`+nulls[1:], `{}`)
			},
			withoutName, nil, []string{"users: attribute name is removed (losing)"},
		},
		"an attribute with a former value that cannot be read": {
			func(t *testing.T, st *Store, users, _ *model.Collection) {
				update(t, st, users, `{"name":"Ada"}`, `{}`)
				write(t, st, func(tx *Tx) error {
					return db.ExecAll(tx.conn, "UPDATE "+db.ChangesTable+` SET previous = replace(previous, 'Ada"', 'Ada')`)
				})
			},
			withoutName, nil, []string{"users: attribute name is removed (losing)"},
		},
		"an attribute whose number is a property": {
			func(t *testing.T, st *Store, users, _ *model.Collection) {
				update(t, st, users, strings.ReplaceAll(nulls, "null", "1"), `{}`)
			},
			withoutName, []string{"users: attribute name is removed"}, nil,
		},
		"another type of an attribute": {
			func(t *testing.T, st *Store, users, _ *model.Collection) { insert(t, st, users, `{"note":{"a":1}}`) },
			withUsers("\n      title: {type: integer, renamed_from: name}\n      note: {type: object}"),
			[]string{"users: attribute name is renamed to title", "users: title is converted from string to integer"}, nil,
		},
		"required": {
			func(t *testing.T, st *Store, users, _ *model.Collection) { insert(t, st, users, `{}`) },
			withUsers("\n      name: {type: string}\n      note: {type: object}\n    required: [name]"), nil, []string{"users: name becomes required (rewriting)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, url string) {
				s := parse(t, emptyBefore)
				st := open(t, url, s)
				if c.rows != nil {
					c.rows(t, st, s.Collection("users"), s.Collection("drafts"))
				}
				before := st.HistoryTag()
				closeStore(t, st)
				st, applied, refused := openWith(t, url, c.after)
				if !slices.Equal(applied, c.applied) || !slices.Equal(refused, c.refused) {
					t.Errorf("applied %q\nwant    %q\nrefused %q\nwant    %q", applied, c.applied, refused, c.refused)
				}
				if st == nil {
					open(t, url, s) // nothing was changed
					return
				}
				defer closeStore(t, st)
				if st.HistoryTag() != before {
					t.Error("the history is another one")
				}
			})
		})
	}
}

// TestEmptyUntilTheLock: what is written while a server starts is not lost.
func TestEmptyUntilTheLock(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := parse(t, emptyBefore)
		st := open(t, url, s)
		drafts := s.Collection("drafts")
		draft := record(t, drafts, `{"text":"a"}`)
		opened := make(chan struct{})
		var applied, refused []string
		write(t, st, func(tx *Tx) error {
			draft[model.IDColumn], draft[drafts.CreatedColumn()], draft[drafts.UpdatedColumn()] = model.IDValue(tx.NewID()), tx.Now(), tx.Now()
			if _, err := tx.Insert(drafts, draft); err != nil {
				return err
			}
			go func() {
				defer close(opened)
				_, applied, refused = openWith(t, url, "collections: {users: {attributes: {name: {type: string}, note: {type: object}}}}")
			}()
			if strings.HasPrefix(url, "postgres") {
				awaitWaiting(t, url, 1) // it has found the collection empty, and waits for the locks of its migration
			}
			return nil
		})
		<-opened
		if want := []string{"collection drafts is removed (losing)"}; applied != nil || !slices.Equal(refused, want) {
			t.Errorf("applied %q, refused %q", applied, refused)
		}
	})
}

// TestWayBackOfEmpty: a node with the earlier schema that restarts during a rolling upgrade does not undo the upgrade.
func TestWayBackOfEmpty(t *testing.T) {
	const after = emptyBefore + "      more: {type: string}\n"
	eachDatabase(t, func(t *testing.T, url string) {
		closeStore(t, open(t, url, parse(t, emptyBefore)))
		for _, step := range []struct {
			yaml             string
			applied, refused []string
		}{
			{after, []string{"drafts: new attribute more (string)"}, nil},
			{emptyBefore, []string{"drafts: attribute more is removed"}, []string{"drafts: attribute more is removed (losing)"}},
		} {
			if strings.HasPrefix(url, "sqlite") {
				step.refused = nil // no other node uses the file
			} else if step.refused != nil {
				step.applied = nil
			}
			st, applied, refused := openWith(t, url, step.yaml)
			if !slices.Equal(applied, step.applied) || !slices.Equal(refused, step.refused) {
				t.Errorf("applied %q, refused %q", applied, refused)
			}
			if st != nil {
				closeStore(t, st)
			}
		}
	})
}
