// Package resource writes resources for the HTTP side and the library: create, update, upsert and delete, one file each;
// package reads reads them. Creates, updates and upserts end in write_all.go, which checks
// and stores their resources. A write and all its consequences are one transaction.
package resource

import (
	"context"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/internal/tracing"
)

// forcedStates is who changes resources where Resources.ForceStates is set.
const forcedStates = "import:force-state"

// Resources reads and writes the resources of a store.
type Resources struct {
	*reads.Reader
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

	// Tracer gets the hooks of traces that are sampled. Nil: there is none.
	Tracer tracing.Tracer

	// AfterFailed, if not nil, is called with errors of hooks after the commit.
	AfterFailed func(context.Context, *Change, error)
}

// New returns the resources of a store.
func New(s *store.Store) *Resources {
	return &Resources{Reader: reads.New(s), store: s, hooks: map[hookKey][]Hook{}, IdempotencyQuota: 64 << 20}
}

// resource is a record as the caller sees it. Whole is its representation with all attributes.
func (r *Resources) resource(path reads.Path, record model.Record, whole []byte) reads.Resource {
	c := path.Collection
	return reads.Resource{
		ID: record.ID(model.IDColumn), Representation: represent(path, record, whole),
		ETag: r.ETag(path, record.Int(c.RevisionColumn()), r.store.DeclaredIn(c)),
	}
}

// identity identifies a resource.
type identity struct {
	collection *model.Collection // as it is stored
	id         model.ID
}

// represent is a record as the caller sees it, for most callers its whole representation.
func represent(path reads.Path, record model.Record, whole []byte) []byte {
	if visible := path.By.Visible(path.Collection); visible != nil {
		return path.Collection.AppendSome(nil, record, visible)
	}
	return whole
}

// Health returns why nothing can be written until the server is restarted, or nil.
func (r *Resources) Health() error { return r.store.Health() }
