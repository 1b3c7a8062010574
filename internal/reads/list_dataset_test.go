package reads

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

const library = `
collections:
  albums:
    attributes:
      name: {type: string}
  tracks:
    parent: {collection: albums, on_delete: set_null}
    attributes:
      title: {type: string}
      rank: {type: integer, index: true}
      score: {type: number}
      price: {type: string, format: decimal, scale: 2, index: true}
      live: {type: boolean}
      master: {type: string, format: uuid}
      released: {type: string, format: date}
      aired: {type: string, format: date-time}
      extra: {type: object}
`

var limits = query.Limits{DefaultLimit: 4}

// eachLibrary runs a test on an empty library on each kind of store.
func eachLibrary(t *testing.T, test func(*testing.T, *dataset)) {
	file, err := schema.Parse([]byte(library))
	if err != nil {
		t.Fatal(err)
	}
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(context.Background(), database(t), (*model.Schema)(file.Schema))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := st.Close(); err != nil {
					t.Error("closing:", err)
				}
			})
			test(t, &dataset{reader: New(st), albums: (*model.Schema)(file.Schema).Collection("albums"), tracks: (*model.Schema)(file.Schema).Collection("tracks")})
		})
	}
}

// dataset is a library and what a naive model knows of it.
type dataset struct {
	reader         *Reader
	albums, tracks *model.Collection

	parents []model.ID     // of albums, the first of which is called "a", and the second "b"
	present []model.Record // tracks that exist, in any order
	deleted []model.Record // tracks that the change log remembers
}

var albumNames = []string{"a", "b"}

func idOf(record model.Record) model.ID { return record.ID(model.IDColumn) }

// populate fills the library with a few random albums and tracks, of which some
// are deleted again.
func (w *dataset) populate(t *rapid.T, most int) {
	ctx := context.Background()
	w.parents = []model.ID{{1}, {2}}
	tracks := rapid.SliceOfNDistinct(rapid.Custom(w.drawTrack), 0, most, idOf).Draw(t, "tracks")
	dead := rapid.SliceOfN(rapid.IntRange(0, 3), len(tracks), len(tracks)).Draw(t, "dead")
	err := w.reader.store.Write(ctx, func(tx *store.Tx) error {
		if err := w.clear(tx); err != nil {
			return err
		}
		for i, id := range w.parents {
			album := make(model.Record, len(w.albums.Columns()))
			album[w.albums.Field("name").Column] = model.TextValue(albumNames[i])
			album[model.IDColumn], album[w.albums.CreatedColumn()], album[w.albums.UpdatedColumn()] = model.IDValue(id), tx.Now(), tx.Now()
			if _, err := tx.Insert(w.albums, album); err != nil {
				return err
			}
		}
		for _, track := range tracks {
			if _, err := tx.Insert(w.tracks, track); err != nil {
				return err
			}
		}
		return nil
	})
	// What earlier libraries have deleted is not to be remembered.
	if err == nil {
		err = w.reader.store.DeleteOldChanges(ctx, -time.Hour)
	}
	w.present, w.deleted = nil, nil
	if err == nil {
		err = w.reader.store.Write(ctx, func(tx *store.Tx) error {
			w.present, w.deleted = nil, nil
			for i, track := range tracks {
				if dead[i] > 0 {
					w.present = append(w.present, track)
					continue
				}
				w.deleted = append(w.deleted, track)
				if _, err := tx.Delete(w.tracks, track); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// clear deletes what is there.
func (w *dataset) clear(tx *store.Tx) error {
	for _, c := range []*model.Collection{w.tracks, w.albums} {
		rows, err := tx.Select(c, statement.Selection{Order: statement.NewOrder(nil), Take: math.MaxInt64})
		if err != nil {
			return err
		}
		var old []model.Record
		more, err := rows.Next()
		for ; err == nil && more; more, err = rows.Next() {
			old = append(old, c.Scan(rows))
		}
		rows.Close()
		for i := 0; err == nil && i < len(old); i++ {
			_, err = tx.Delete(c, old[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// values of each kind are few, so that they meet in filters and sorts.
var values = map[model.Kind][]string{
	model.KindText:    {"", "a", "A", "ab", "a,b", `\`, "é", "\ue000", "\U0001d11e", "%"},
	model.KindInteger: {"0", "1", "-1", "9223372036854775807", "2"},
	model.KindNumber:  {"0", "-0.5", "1e300", "0.1", "2"},
	model.KindBoolean: {"true", "false"},

	model.DecimalKind(2): {"0", "-0.05", "1.5", "10", "-9999999999999999.99"},
	model.KindUUID:       {"00000000-0000-0000-0000-000000000000", "01000000-0000-0000-0000-000000000000", "ff000000-0000-0000-0000-000000000000"},
	model.KindDate:       {"2024-02-29", "2026-11-14", "0001-01-01"},
	model.KindDateTime:   {"2026-11-14T09:30:00.123Z", "1969-12-31T23:59:59.999Z", "2026-11-14T09:30:00.124Z"},
}

func (w *dataset) drawTrack(t *rapid.T) model.Record {
	record := make(model.Record, len(w.tracks.Columns()))
	for i, column := range w.tracks.Columns() {
		switch {
		case column.Name == "id":
			record[i] = model.IDValue(drawID(t))
		case column.Name == "album_id":
			parent := rapid.SampledFrom([]model.Value{model.Null, model.IDValue(w.parents[0]), model.IDValue(w.parents[1])})
			record[i] = parent.Draw(t, "album")
		case column.Kind == model.KindJSON:
			record[i] = rapid.SampledFrom([]model.Value{model.Null, model.TextValue("{}")}).Draw(t, column.Name)
		case column.NotNull || rapid.IntRange(0, 3).Draw(t, "null") > 0:
			record[i], _ = column.Kind.Parse(rapid.SampledFrom(values[column.Kind]).Draw(t, column.Name))
		}
	}
	return record
}

// drawID draws an id: their bytes are few, and differ at either end.
func drawID(t *rapid.T) model.ID {
	part := rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff})
	return model.ID{0: part.Draw(t, "first"), 8: part.Draw(t, "middle"), 15: part.Draw(t, "last")}
}

// drawPath draws the collection, or the sub-collection of a parent.
func (w *dataset) drawPath(t *rapid.T) Path {
	path := Path{Collection: w.tracks}
	if n := rapid.IntRange(0, 2).Draw(t, "parent"); n > 0 {
		path.Parent = &w.parents[n-1]
	}
	return path
}

// drawConditions draws filters and a sort as they stand in a query string.
func (w *dataset) drawConditions(t *rapid.T) string {
	var parts []string
	names := w.tracks.FieldNames()
	used := map[string]bool{}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "filters") {
		field := w.tracks.Field(rapid.SampledFrom(names).Draw(t, "field"))
		filter := drawFilter(t, field)
		name, _, _ := strings.Cut(filter, "=")
		if plain := name == "filter["+field.Name+"]"; plain || !used[name] { // an operator is given once
			used[name] = true
			parts = append(parts, filter)
		}
	}
	sortable := slices.DeleteFunc(names, func(name string) bool { return name == "extra" })
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(sortable), 0, 2, rapid.ID).Draw(t, "sort")
	for i := range keys {
		keys[i] = rapid.SampledFrom([]string{"", "-"}).Draw(t, "direction") + keys[i]
	}
	if len(keys) > 0 {
		parts = append(parts, "sort="+strings.Join(keys, ","))
	}
	return strings.Join(parts, "&")
}

func drawFilter(t *rapid.T, field *model.Field) string {
	name := "filter[" + field.Name + "]"
	ops := []string{"bare", "[null]"}
	if field.Kind != model.KindJSON {
		ops = append(ops, "", "[eq]", "[ne]", "[lt]", "[lte]", "[gt]", "[gte]", "[in]", "[not_in]")
	}
	if field.Kind == model.KindText {
		ops = append(ops, "[contains]", "[starts_with]")
	}
	value := func() string { return rapid.SampledFrom(values[field.Kind]).Draw(t, "value") }
	switch op := rapid.SampledFrom(ops).Draw(t, "op"); op {
	case "bare":
		return name
	case "[null]":
		return name + op + "=" + rapid.SampledFrom([]string{"true", "false"}).Draw(t, "null")
	case "[in]", "[not_in]":
		list := strings.ReplaceAll(value(), ",", `\,`) + "," + strings.ReplaceAll(value(), ",", `\,`)
		return name + op + "=" + url.QueryEscape(list)
	default:
		return name + op + "=" + url.QueryEscape(value())
	}
}

// drawRange draws a range of any anchor and sign, as it stands in a query string.
func (w *dataset) drawRange(t *rapid.T) string {
	var parts []string
	small := rapid.IntRange(-9, 9)
	limit := rapid.OneOf(rapid.Map(small, func(n int) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"99999999999999999999", "-99999999999999999999", "1001", "-9223372036854775807"}))
	if rapid.IntRange(0, 5).Draw(t, "limited") > 0 {
		parts = append(parts, "limit="+limit.Draw(t, "limit"))
	}
	switch rapid.SampledFrom([]string{"", "offset", "cursor"}).Draw(t, "anchor") {
	case "offset":
		offset := rapid.OneOf(rapid.Map(rapid.IntRange(0, 15), func(n int) string { return fmt.Sprint(n) }), rapid.Just("99999999999999999999"))
		parts = append(parts, "offset="+offset.Draw(t, "offset"))
	case "cursor":
		parts = append(parts, "cursor="+w.drawCursor(t).String())
	}
	return strings.Join(parts, "&")
}

// drawCursor draws a resource that exists, one that was deleted, or any id.
func (w *dataset) drawCursor(t *rapid.T) model.ID {
	from := rapid.IntRange(0, 5).Draw(t, "cursor")
	switch {
	case from <= 1 && len(w.deleted) > 0:
		return idOf(rapid.SampledFrom(w.deleted).Draw(t, "deleted"))
	case from <= 4 && len(w.present) > 0:
		return idOf(rapid.SampledFrom(w.present).Draw(t, "present"))
	default:
		return drawID(t)
	}
}
