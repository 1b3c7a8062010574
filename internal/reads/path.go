package reads

import (
	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Path is a collection, or the part of it that belongs to one parent.
type Path struct {
	Collection *model.Collection
	Parent     *model.ID // set on a sub-collection

	// By is the permit of the caller; nil: everything is allowed.
	By *auth.Permit
}

// Require returns why the caller may not use a verb in the collection at all, or nil.
func (p Path) Require(verb schema.AccessVerb) error {
	if !p.By.May(verb, p.Collection) {
		return p.By.Denied("You may not %s resources of %s.", verb, p.Collection.Name)
	}
	return nil
}

// IsHidden reports whether the caller may not see the attribute of the parent, so that the
// sub-collection does not exist for them.
func (p Path) IsHidden() bool {
	return p.Parent != nil && !p.By.Visible(p.Collection).Has(p.Collection.ParentLink().Column)
}

// Limits is what the caller may name in a query.
func (p Path) Limits() query.Limits {
	return query.Limits{Visible: p.By.Visible(p.Collection), Related: p.By.Related}
}

// Parse reads a query string of the program. The limit is used if it has none.
func (p Path) Parse(mode query.Mode, wanted string, limit int64) (query.Query, error) {
	limits := p.Limits()
	limits.DefaultLimit = limit
	return query.Parse(mode, p.Collection, wanted, limits)
}

// Scope is the filter of what exists on the path for the caller, nil if everything does.
func (p Path) Scope() query.Filter {
	if p.Parent == nil {
		return p.By.Scope(p.Collection)
	}
	ofParent := query.Compare{Column: p.Collection.ParentLink().Column, Op: query.Equal, Value: model.IDValue(*p.Parent)}
	return query.Both(ofParent, p.By.Scope(p.Collection))
}

// Exists reports whether a resource exists for a caller.
type Exists func(by *auth.Permit, c *model.Collection, id model.ID) (bool, error)

// Stored reports whether a resource that is stored exists for a caller.
func Stored(tx *store.Tx) Exists {
	return func(by *auth.Permit, c *model.Collection, id model.ID) (bool, error) {
		found, err := tx.Existing(c, by.Scope(c), []model.ID{id})
		return found[id], err
	}
}

// RequireParent returns 404 if the parent of a sub-collection does not exist for the caller,
// or if they may not see the attribute of the parent.
func (p Path) RequireParent(exists Exists) error {
	if p.Parent == nil {
		return nil
	}
	parents := p.Collection.ParentLink().To
	if p.IsHidden() {
		return NotFound(parents, *p.Parent)
	}
	found, err := exists(p.By, parents, *p.Parent)
	if err == nil && !found {
		err = NotFound(parents, *p.Parent)
	}
	return err
}

// RequireParentOfItem is RequireParent for a stored item. An item has a parent, so only the visibility of the parent is checked.
func (p Path) RequireParentOfItem(exists Exists) error {
	if !p.readsParentOfItem() {
		return nil
	}
	return p.RequireParent(exists)
}

// readsParentOfItem reports whether RequireParentOfItem reads the parent.
func (p Path) readsParentOfItem() bool {
	return p.Parent != nil && (p.IsHidden() || p.By.Scope(p.Collection.ParentLink().To) != nil)
}

// Get reads a resource on the path, or returns 404.
func (p Path) Get(tx *store.Tx, id model.ID) (model.Record, error) {
	record, err := tx.Get(p.Collection, p.Scope(), id)
	if err == nil && record == nil {
		err = NotFound(p.Collection, id)
	}
	return record, err
}

// NotFound is the error for a resource that does not exist for the caller.
func NotFound(c *model.Collection, id model.ID) *problem.Error {
	return fault.New(problem.CodeNotFound, "There is no resource %s here in %s.", id, c.Name)
}
