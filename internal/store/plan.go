package store

import (
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/internal/statement"
)

// Limits of plans. They are variables for tests.
var (
	// maxMatches is how many matches of a search are found before the page is read. If there are more, it is faster to read the
	// page in its order and to compare the words of each resource.
	maxMatches = 4000
	// passSample is how many matches of a search are read to find out how many pass another filter, and leastPass is how many of
	// them must pass, so that a page gets the matches from the index of words.
	passSample, leastPass = 300, 10
)

// plan chooses how the statements of a page find the resources that pass a filter, so that they do not find related resources
// and words again and again. What else a filter, a sort or a group may ask of a database is planned here.
func (t *Tx) plan(c *model.Collection, filter query.Filter, order statement.Order, r query.Range) (p statement.Plan, err error) {
	if p, err = t.planRelated(c, filter); err != nil {
		return p, err
	}
	p.ByRow = comparesWords(c, order)
	words, rest, ok := query.TakeSearch(filter)
	if !ok {
		return p, nil
	}

	// The search leaves the filter, unless an index for the rest of the filter serves the page better.
	searched := p
	searched.Filter, searched.Search = rest, &statement.Search{Search: words}
	indexed := t.bound.sql.Finds(c, searched)
	byID, descends := len(order) == 1, order[0].Descending
	fromEnd := byID && descends != (r.Limit < 0 && r.Anchor != query.AtOffset)
	ordered := t.store.db.Traits().OrderedSearch
	sample, err := search.ReadSample(t.conn, t.store.db, t.bound.table(c).words, searched.Search.Terms(c), fromEnd)
	if err != nil {
		return p, t.fault(err)
	}
	searched.Search.Rare = sample.Rare()

	if byID && ordered { // the index of words has the order of the page
		searched.Search.InOrder = true
		if !indexed {
			return searched, nil
		}
		if passes, err := t.oftenPasses(c, searched); err != nil || !passes {
			return p, err
		}
		return searched, nil
	}
	if found, err := t.findMatches(c, searched.Search, sample, maxMatches); err != nil || found {
		return searched, err
	}
	if byID && !indexed {
		searched.Search.InOrder = true
		return searched, nil
	}
	return p, nil
}

// findMatches finds all matches of a search by the index of words. False: there are more than most, or so many that it is not asked.
func (t *Tx) findMatches(c *model.Collection, s *statement.Search, sample search.Sample, most int) (found bool, err error) {
	if !t.store.db.Traits().OrderedSearch && sample.Dense() {
		return false, nil
	}
	ids, found, err := search.Find(t.conn, t.store.db, t.bound.table(c).words, s.Terms(c), sample.Common(), most)
	if err == nil && found {
		s.IDs = ids
	}
	return found, t.fault(err)
}

// comparesWords reports whether a page compares the words of each resource, as long as nothing better is known of its searches. An
// order that no index has needs all matches in any case.
func comparesWords(c *model.Collection, order statement.Order) bool {
	return len(order) == 1 || order[0].IsColumn() && db.IndexBegins(c, order[0].Column)
}

// oftenPasses reports whether an index of words serves a search better than an index for the rest of the
// filter: the matches are few, or many of them pass.
func (t *Tx) oftenPasses(c *model.Collection, p statement.Plan) (bool, error) {
	s := t.bound.sql.Passing(c, p, passSample+1)
	var matches, passing int64
	_, err := t.one(s, func(row model.Row) { matches, passing = row.Int(0), row.Int(1) })
	return int(matches) <= passSample || int(passing) >= leastPass, err
}

// Limits of planRelated. They are variables for tests.
var (
	// fewRelated: a collection with so many resources is always read. fewerRelated: and one that has so many
	// times fewer resources than the collection that is listed.
	fewRelated, fewerRelated int64 = 5000, 64
	// maxRelated is how many matching related resources are listed. If there are more, a page probably
	// has enough resources soon.
	maxRelated = 1000
	// manyReferring is how many resources an index of a reference finds before they are sorted.
	manyReferring int64 = 5000
)

// planRelated finds the related resources that match the conditions of a filter, if they are few. Otherwise they would be
// compared again for each resource that refers to them, and in each statement of a page. Where the planner finds that out, only the
// matches of searches are found, which it cannot estimate.
func (t *Tx) planRelated(c *model.Collection, filter query.Filter) (p statement.Plan, err error) {
	p = statement.Plan{Filter: filter, Related: map[*query.Related]statement.Related{}}
	return p, t.findRelated(c, filter, p.Related)
}

func (t *Tx) findRelated(c *model.Collection, filter query.Filter, known map[*query.Related]statement.Related) (err error) {
	query.EachDirectlyRelated(filter, func(f *query.Related) {
		if err == nil {
			err = t.findRelated(f.Relation.To, query.Both(f.Scope, f.Filter), known)
		}
		if err == nil {
			err = t.findOneRelated(c, f, known)
		}
	})
	return err
}

func (t *Tx) findOneRelated(c *model.Collection, f *query.Related, known map[*query.Related]statement.Related) error {
	to := f.Relation.To
	matching := statement.Plan{Filter: query.Both(f.Scope, f.Filter), Related: known}
	searched, err := t.findSearched(to, &matching)
	if err != nil {
		return err
	}
	joins := t.store.db.Traits().HashJoins
	if joins && !searched {
		return nil
	}
	own, err := t.Total(c, nil)
	if err != nil {
		return err
	}
	others, err := t.Total(to, nil)
	if err != nil || !searched && others > fewRelated && others > own/fewerRelated {
		return err
	}
	table, there := t.bound.table(to), f.Relation.Column
	if f.Relation.One {
		there = model.IDColumn
	}
	s := t.bound.sql.Statement(to, "SELECT DISTINCT ", table.Columns[there], " FROM ", table.Name, " WHERE ", table.Columns[there], " IS NOT NULL")
	s.And(matching)
	s.Write(" LIMIT ", strconv.Itoa(maxRelated+1))
	var found statement.Related
	err = t.each(s, func(row model.Row) { found.IDs = append(found.IDs, row.ID(0)) })
	if err != nil || len(found.IDs) > maxRelated {
		return err
	}
	referring := int64(len(found.IDs))
	if f.Relation.One {
		referring *= own / max(others, 1)
	}
	found.Many = referring > manyReferring && !joins
	known[f] = found
	return nil
}

// findSearched takes a search out of the filter of a plan, if the index of words finds few matches.
func (t *Tx) findSearched(c *model.Collection, p *statement.Plan) (found bool, err error) {
	words, rest, ok := query.TakeSearch(p.Filter)
	if !ok {
		return false, nil
	}
	searched := &statement.Search{Search: words}
	sample, err := search.ReadSample(t.conn, t.store.db, t.bound.table(c).words, searched.Terms(c), false)
	if err != nil {
		return false, t.fault(err)
	}
	if found, err = t.findMatches(c, searched, sample, maxRelated); found {
		p.Filter, p.Search = rest, searched
	}
	return found, err
}
