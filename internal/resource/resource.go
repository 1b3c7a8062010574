// Package resource implements the operations on resources for the HTTP side and the library: create,
// get, list, update, upsert and delete, one file each. Creates, updates and upserts end in write_all.go, which checks
// and stores their resources. A write and all its consequences are one transaction.
package resource

import (
	"context"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Resources gives access to the resources of a store.
type Resources struct {
	store *store.Store
	hooks map[hookKey][]Hook

	keysInUse sync.Map // IdempotencyKey of the requests that are being executed

	// BodyLimits bounds the bodies of requests.
	BodyLimits BodyLimits

	// AcceptTimestamps lets new resources bring created_at and updated_at.
	AcceptTimestamps bool

	// ForceStates lets resources have any state of their lifecycles, for an import of whoever operates the database.
	ForceStates bool

	// Memory is for the resources of writes of many. Nil: it is not bounded.
	Memory *limit.Budget

	// Guard identifies the callers of operations. Nil: there is no access control.
	Guard *auth.Guard

	// Backlog is how many operations may be unfinished, and BacklogShare how many of one caller. Where there is no access control,
	// no callers are known.
	Backlog, BacklogShare int64

	// IdempotencyQuota bounds the bytes of the idempotency records of one caller. Default: 64 MiB.
	IdempotencyQuota int64

	// HookTime bounds the total time of all hooks of a request in each phase: before, in and after its
	// transaction. Zero: no limit.
	HookTime time.Duration

	// WriteTime bounds the time of a transaction that takes longer than an insert, without that of hooks. Zero: no limit.
	WriteTime time.Duration

	// AfterFailed, if not nil, is called with errors of hooks after the commit.
	AfterFailed func(context.Context, *Change, error)
}

// New returns the resources of a store.
func New(s *store.Store) *Resources {
	return &Resources{store: s, hooks: map[hookKey][]Hook{}, IdempotencyQuota: 64 << 20}
}

// Resource is one resource as sent to a client.
type Resource struct {
	ID             model.ID
	Representation []byte
	ETag           string // empty for a deleted resource
	Created        bool   // by this write
}

// resource is a record as the caller sees it. Whole is its representation with all attributes.
func (r *Resources) resource(path Path, record model.Record, whole []byte) Resource {
	c := path.Collection
	return Resource{
		ID: record.ID(model.IDColumn), Representation: path.represent(record, whole),
		ETag: r.etag(path, record.Int(c.RevisionColumn())),
	}
}

// etag is the entity tag of a resource for the caller of a path.
func (r *Resources) etag(path Path, revision int64) string {
	return r.etagOf(revision, r.store.DeclaredIn(path.Collection), path.By.ColumnsTag(path.Collection))
}

func (r *Resources) etagOf(revision, declaredIn int64, columns string) string {
	return headers.ETag(revision, declaredIn, r.store.HistoryTag(), columns)
}

// Require returns why the caller may not use a verb in the collection at all, or nil.
func (p Path) Require(verb schema.AccessVerb) error {
	if !p.By.May(verb, p.Collection) {
		return p.By.Denied("You may not %s resources of %s.", verb, p.Collection.Name)
	}
	return nil
}

// identity identifies a resource.
type identity struct {
	collection *model.Collection
	id         model.ID
}

// Path is a collection, or the part of it that belongs to one parent.
type Path struct {
	Collection *model.Collection
	Parent     *model.ID // set on a sub-collection

	// By is the permit of the caller; nil: everything is allowed.
	By *auth.Permit
}

// represent is a record as the caller sees it, for most callers its whole representation.
func (p Path) represent(record model.Record, whole []byte) []byte {
	if visible := p.By.Visible(p.Collection); visible != nil {
		return p.Collection.AppendSome(nil, record, visible)
	}
	return whole
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

// Scope is the filter of what exists on the path for the caller, nil if everything does.
func (p Path) Scope() query.Filter {
	if p.Parent == nil {
		return p.By.Scope(p.Collection)
	}
	ofParent := query.Compare{Column: p.Collection.ParentLink().Column, Op: query.Equal, Value: model.IDValue(*p.Parent)}
	return query.Both(ofParent, p.By.Scope(p.Collection))
}

// get reads a resource on the path, or returns 404.
func (p Path) get(tx *store.Tx, id model.ID) (model.Record, error) {
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

// Totals returns the number of resources of each collection, from one snapshot: nil where the
// caller may not list the collection, and where the resources would have to be counted: a rule
// restricts it, or it is the collection of changes.
func (r *Resources) Totals(ctx context.Context, by *auth.Permit, collections []*model.Collection) ([]*int64, error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	totals := make([]*int64, len(collections))
	for i, c := range collections {
		if !by.May(schema.MayList, c) || by.Scope(c) != nil || c == r.store.Schema().Changes() {
			continue
		}
		total, err := tx.Total(c, nil)
		if err != nil {
			return nil, err
		}
		totals[i] = &total
	}
	return totals, nil
}

// Health returns why nothing can be written until the server is restarted, or nil.
func (r *Resources) Health() error { return r.store.Health() }
