package resource_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestDeletionsEqualTheModel deletes resources of random schemas, in which references of every kind form
// trees, cycles and references to itself, and compares what is stored, the log, the totals and the
// refusals with a naive model.
func TestDeletionsEqualTheModel(t *testing.T) {
	defer func(size, least int) { store.SetSize, *resource.MinByLink = size, least }(store.SetSize, *resource.MinByLink)
	store.SetSize = 3
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		var cascades, nulled, refused, moved int
		var byLink, nulledByLink int64
		for seed := range uint64(12) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				*resource.MinByLink = []int{1, 2, 500}[seed%3]
				m := newDeletionModel(t, database(t), seed)
				for range 6 {
					m.populate()
					for range 4 {
						m.delete()
					}
				}
				m.examine()
				cascades, nulled, refused, moved = cascades+m.cascades, nulled+m.nulled, refused+m.refused, moved+m.moved
				byLink, nulledByLink = byLink+m.byLink.Load(), nulledByLink+m.nulledByLink.Load()
			})
		}
		if cascades < 50 || nulled < 50 || refused < 10 || moved == 0 || byLink < 20 || nulledByLink < 20 {
			t.Errorf("%s: %d cascades, %d set to null, %d refused, %d left their parents, %d and %d sets by a link: this tests too little", name, cascades, nulled, refused, moved, byLink, nulledByLink)
		}
	}
}

// deletionModel is a database, and its resources as a naive model knows them: their references, by the
// names of attributes.
type deletionModel struct {
	*testing.T
	random    *rand.Rand
	url       string
	schema    *model.Schema
	store     *store.Store
	resources *resource.Resources
	rows      map[node]map[string]model.ID
	made      byte
	position  int64 // of the last change that was compared

	cascades, nulled, refused, moved int
	byLink, nulledByLink             atomic.Int64 // statements for a set with a link
}

type node struct {
	collection string
	id         model.ID
}

func newDeletionModel(t *testing.T, url string, seed uint64) *deletionModel {
	m := &deletionModel{T: t, random: rand.New(rand.NewPCG(seed, 2)), url: url, rows: map[node]map[string]model.ID{}}
	kinds := []string{"cascade", "cascade", "set_null", "set_null", "restrict"}
	kind := func() string { return kinds[m.random.IntN(len(kinds))] }
	collections := 2 + m.random.IntN(3)
	text := "collections:\n"
	for i := range collections {
		text += fmt.Sprintf("  k%ds:\n    timestamps: %v\n", i, m.random.IntN(2) == 0)
		if m.random.IntN(2) == 0 {
			text += fmt.Sprintf("    parent: {collection: k%ds, on_delete: %s}\n", m.random.IntN(collections), kind())
		}
		text += "    attributes:\n      name: {type: string}\n"
		for j := range m.random.IntN(3) {
			text += fmt.Sprintf("      r%d: {references: {collection: k%ds, on_delete: %s}}\n", j, m.random.IntN(collections), kind())
		}
		text += "    search: [name]\n"
	}
	file, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m.schema = (*model.Schema)(file.Schema)
	m.store, err = store.Open(context.Background(), url, m.schema, store.Trace(func(sql string) {
		switch {
		case !strings.Contains(sql, `AND "id" >= $`):
		case strings.HasPrefix(sql, `DELETE FROM "k`):
			m.byLink.Add(1)
		case strings.HasPrefix(sql, `UPDATE "k`):
			m.nulledByLink.Add(1)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	m.resources = resource.New(m.store)
	return m
}

// populate adds resources, whose references are to any that exist then.
func (m *deletionModel) populate() {
	m.Helper()
	all := slices.SortedFunc(maps.Keys(m.rows), compareNodes)
	var added []node
	for range 10 + m.random.IntN(20) {
		m.made++
		c := m.schema.Collections()[m.random.IntN(len(m.schema.Collections()))]
		added = append(added, node{c.Name, model.ID{byte(m.random.IntN(256)), 15: m.made}})
	}
	all = append(all, added...)
	err := m.store.Write(context.Background(), func(tx *store.Tx) error {
		for _, n := range added {
			c := m.schema.Collection(n.collection)
			record := make(model.Record, len(c.Columns()))
			record[model.IDColumn], record[c.Field("name").Column] = model.IDValue(n.id), model.TextValue(fmt.Sprint("name ", n.id))
			if !c.NoTimestamps {
				record[c.CreatedColumn()], record[c.UpdatedColumn()] = tx.Now(), tx.Now()
			}
			references := map[string]model.ID{}
			for _, link := range c.Links() {
				targets := slices.DeleteFunc(slices.Clone(all), func(other node) bool { return other.collection != link.To.Name })
				if len(targets) > 0 && m.random.IntN(4) > 0 {
					target := targets[m.random.IntN(len(targets))].id
					record[link.Column], references[c.Columns()[link.Column].Name] = model.IDValue(target), target
				}
			}
			m.rows[n] = references
			if _, err := tx.Insert(c, record); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
	m.position = m.last()
}

func compareNodes(a, b node) int {
	return strings.Compare(a.collection+string(a.id[:]), b.collection+string(b.id[:]))
}

func (m *deletionModel) last() int64 {
	m.Helper()
	last, err := m.store.AssignNumbers(context.Background())
	if err != nil {
		m.Fatal(err)
	}
	return last
}

// delete deletes a few resources of one collection.
func (m *deletionModel) delete() {
	m.Helper()
	all := slices.SortedFunc(maps.Keys(m.rows), compareNodes)
	if len(all) == 0 {
		return
	}
	m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var roots []node
	for _, n := range all {
		if n.collection == all[0].collection && len(roots) < 5 && (len(roots) == 0 || m.random.IntN(3) == 0) {
			roots = append(roots, n)
		}
	}
	c := m.schema.Collection(all[0].collection)
	want, changes, restricted := m.expected(roots)
	ids := make([]string, len(roots))
	for i, root := range roots {
		ids[i] = root.id.String()
	}
	path := reads.Path{Collection: c}
	selected, err := query.Parse(query.OfRange, c, "filter[id][in]="+strings.Join(ids, ","), path.Limits())
	if err != nil {
		m.Fatal(err)
	}
	step := resource.Step{Method: http.MethodDelete, Path: path, Range: &selected, BodyLimits: resource.BodyLimits{Depth: 1, Items: len(ids)}}
	m.comparePrediction(step)
	err = m.resources.Execute(context.Background(), resource.Request{Steps: []resource.Step{step}}).Err
	var faults problem.Errors
	switch {
	case restricted > 0:
		m.refused++
		if !errors.As(err, &faults) || len(faults) != restricted || faults[0].Code != problem.CodeReferenced {
			m.Fatalf("deleting %v: got %v, want %d references", roots, err, restricted)
		}
	case err != nil:
		m.Fatalf("deleting %v: %v", roots, err)
	default:
		m.rows = want
	}
	m.compare(changes)
}

// comparePrediction compares the dry run of a deletion, which only reads, with one that is executed and undone, as another step follows.
func (m *deletionModel) comparePrediction(step resource.Step) {
	nothing := step
	nothing.Range = &query.Query{Filter: query.In{Column: model.IDColumn}, Range: step.Range.Range}
	predicted := m.resources.Execute(context.Background(), resource.Request{DryRun: true, Steps: []resource.Step{step}})
	undone := m.resources.Execute(context.Background(), resource.Request{DryRun: true, Steps: []resource.Step{step, nothing}, Transaction: true})
	if !slices.Equal(predicted.Affected, undone.Affected) || fmt.Sprint(predicted.Err) != fmt.Sprint(undone.Err) || !reflect.DeepEqual(predicted.Results, undone.Results) {
		m.Fatalf("the dry run of a deletion returns %+v\nand undoing it %+v", predicted, undone)
	}
}

// expected is what is left, the changes in the log, and by how many pairs of a link and a resource the
// deletion is refused.
func (m *deletionModel) expected(roots []node) (left map[node]map[string]model.ID, changes map[string]int, restricted int) {
	marked := map[node]bool{}
	for _, root := range roots {
		marked[root] = true
	}
	for grown := true; grown; {
		grown = false
		m.eachReference(func(from, to node, link model.Link) {
			if link.OnDelete == model.Cascade && marked[to] && !marked[from] {
				marked[from], grown = true, true
			}
		})
	}
	left, changes = map[node]map[string]model.ID{}, map[string]int{}
	for n, references := range m.rows {
		if marked[n] {
			changes[fmt.Sprint("deleted ", n)]++
		} else {
			left[n] = maps.Clone(references)
		}
	}
	held := map[string]bool{}
	moved := 0
	m.eachReference(func(from, to node, link model.Link) {
		switch {
		case marked[from] || !marked[to]:
		case link.OnDelete == model.Restrict:
			held[fmt.Sprint(link.From.Name, link.Column, to)] = true
		default:
			delete(left[from], link.From.Columns()[link.Column].Name)
			changes[fmt.Sprint("updated ", from)]++
			if parent := link.From.ParentLink(); parent != nil && parent.Column == link.Column {
				moved++
			}
		}
	})
	if len(held) > 0 {
		return left, map[string]int{}, len(held)
	}
	m.cascades += len(marked) - len(roots)
	m.moved += moved
	return left, changes, 0
}

func (m *deletionModel) eachReference(visit func(from, to node, link model.Link)) {
	for n, references := range m.rows {
		c := m.schema.Collection(n.collection)
		for _, link := range c.Links() {
			if target, ok := references[c.Columns()[link.Column].Name]; ok {
				visit(n, node{link.To.Name, target}, link)
			}
		}
	}
}

// compare compares what is stored, the totals and the changes since the last call.
func (m *deletionModel) compare(changes map[string]int) {
	m.Helper()
	last := m.last()
	tx, err := m.store.Read(context.Background())
	if err != nil {
		m.Fatal(err)
	}
	defer tx.Close()
	stored, logged := map[node]map[string]model.ID{}, map[string]int{}
	for _, c := range m.schema.Collections() {
		rows, err := tx.Select(c, statement.Selection{Order: statement.NewOrder(nil), Take: math.MaxInt64})
		if err != nil {
			m.Fatal(err)
		}
		for {
			more, err := rows.Next()
			if err != nil {
				m.Fatal(err)
			}
			if !more {
				break
			}
			references := map[string]model.ID{}
			for _, link := range c.Links() {
				if !rows.Null(link.Column) {
					references[c.Columns()[link.Column].Name] = rows.ID(link.Column)
				}
			}
			stored[node{c.Name, rows.ID(model.IDColumn)}] = references
		}
		rows.Close()
		m.compareTotals(tx, c)
	}
	if !reflect.DeepEqual(stored, m.rows) {
		m.Fatalf("stored is\n%v\nand should be\n%v", stored, m.rows)
	}
	if last > m.position {
		entries, _, _, err := tx.Log(changelog.Query{After: m.position, Most: 1000})
		if err != nil {
			m.Fatal(err)
		}
		for _, e := range entries {
			logged[fmt.Sprint(e.Kind, " ", node{e.Collection.Name, e.ID})]++
			if e.Unreadable != nil || e.Before == nil || e.Before[e.Collection.Field("name").Column].Text() != fmt.Sprint("name ", e.ID) {
				m.Fatalf("the log has %+v", e)
			}
			if e.Kind == changelog.Updated {
				m.nulled++
			}
		}
	}
	if !maps.Equal(logged, changes) {
		m.Fatalf("the log has\n%v\nand should have\n%v", logged, changes)
	}
	m.position = last
}

func (m *deletionModel) compareTotals(tx *store.Tx, c *model.Collection) {
	m.Helper()
	want := map[string]int64{"": 0}
	for n, references := range m.rows {
		if n.collection != c.Name {
			continue
		}
		want[""]++
		if link := c.ParentLink(); link != nil {
			if parent, ok := references[c.Columns()[link.Column].Name]; ok {
				want[parent.String()]++
			}
		}
	}
	for of, total := range want {
		var parent *model.ID
		if id, ok := model.ParseID(of); ok {
			parent = &id
		}
		if got, err := tx.Total(c, parent); err != nil || got != total {
			m.Fatalf("the total of %s of %q is %d, and should be %d: %v", c.Name, of, got, total, err)
		}
	}
}

// examine lets the doctor compare everything else.
func (m *deletionModel) examine() {
	m.Helper()
	if err := m.store.MergeDeltas(context.Background()); err != nil {
		m.Fatal(err)
	}
	if err := m.store.Close(); err != nil {
		m.Fatal(err)
	}
	findings, err := admin.Examine(context.Background(), m.url, admin.ExamineOptions{})
	if err != nil || len(findings) > 0 {
		m.Fatalf("the doctor finds %v, %v", findings, err)
	}
}
