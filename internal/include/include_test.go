package include

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestHiddenReferencesAreBounded: what is kept of references to resources that the caller may not see is
// bounded for all relations together, although nothing of them is sent. A relation that leads to few stays.
func TestHiddenReferencesAreBounded(t *testing.T) {
	const rows = 100_000
	file, err := schema.Parse([]byte(`
collections:
  users:
    timestamps: false
    attributes:
      name: {type: string}
  posts:
    timestamps: false
    attributes:
      author_id: {references: users}
      editor_id: {references: users}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	posts := s.Collection("posts")
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(context.Background(), database(t), s)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			tx, err := st.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Close()
			chunk := newChunk(posts, nil, []*query.Include{{Relation: posts.Relation("author"), Scope: query.None}, {Relation: posts.Relation("editor"), Scope: query.None}})
			kept, few, most, largest := chunk.related[0], chunk.related[1], 0, 0
			for first := 0; first < rows; first += chunkRows {
				chunk.clear()
				for i := range chunkRows {
					post := make(model.Record, len(posts.Columns()))
					author := model.ID{1}
					binary.BigEndian.PutUint32(author[12:], uint32(first+i))
					post[model.IDColumn], post[posts.Field("author_id").Column] = model.IDValue(author), model.IDValue(author)
					post[posts.Field("editor_id").Column] = model.IDValue(model.ID{2, byte(i % 100)})
					chunk.add(post)
				}
				if err := chunk.load(tx, 0, chunk.len()); err != nil {
					t.Fatal(err)
				}
				most, largest = max(most, len(kept.of)), max(largest, kept.size()+few.size())
				if len(few.of) != 100 || len(few.ids) > 0 && first > 0 {
					t.Fatalf("%d references of the smaller relation are kept, and %d were read again", len(few.of), len(few.ids))
				}
			}
			if bound := maxReused/64 + chunkRows; most > bound || most < chunkRows || largest > 64*bound {
				t.Errorf("%d references are kept of %d, with %d bytes, want at most %d", most, rows, largest, bound)
			}
		})
	}
}
