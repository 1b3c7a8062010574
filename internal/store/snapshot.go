package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// snapshot is a transaction in which a caller reads a range, row by row.
type snapshot struct {
	quotaKey string // whose quota applies
	tx       *Tx
	release  func()     // ends the transaction, if it is the reader's own; nil: there is none
	quota    *readQuota // that the read counts against; nil: none
}

func (p *snapshot) open(ctx context.Context, s *Store, how db.Use) (err error) {
	if p.tx, err = s.read(ctx, how); err == nil {
		p.release = p.tx.Close
	}
	return err
}

// openWithQuota opens a snapshot for a range that may take long to find, once the quota of
// the caller allows it.
func (p *snapshot) openWithQuota(ctx context.Context, s *Store) error {
	if err := s.pages.wait(ctx, p.quotaKey); err != nil {
		return s.fault(ctx, err)
	}
	if err := p.open(ctx, s, db.PageInSeveral); err != nil {
		s.pages.release(p.quotaKey)
		return err
	}
	p.quota = s.pages
	return nil
}

// ReadWithQuota opens a snapshot for queries that may take long, once the quota of the caller allows it. It must be closed.
func (s *Store) ReadWithQuota(ctx context.Context, quotaKey string) (*Tx, error) {
	p := &snapshot{quotaKey: quotaKey}
	if err := p.openWithQuota(ctx, s); err != nil {
		return nil, err
	}
	tx := p.tx
	tx.at, p.release, tx.release = s.timestamp(), tx.release, p.close
	return tx, nil
}

// Extend lets the range be read for as long as its client takes. It is called after the first part if
// there is more. Each caller has a quota of such reads.
func (p *snapshot) Extend() error {
	long := p.tx.store.long
	if !long.acquire(p.quotaKey) {
		return fault.New(problem.CodeTooManyRequests, "You are already reading %d long lists, which is the limit for one caller. Read them to the end first, or request smaller ranges.", long.most)
	}
	if err := p.tx.conn.Extend(); err != nil {
		long.release(p.quotaKey)
		return p.tx.fault(err)
	}
	p.leave()
	p.quota = long
	return nil
}

// leave releases the quota of the caller.
func (p *snapshot) leave() {
	if p.quota != nil {
		p.quota.release(p.quotaKey)
		p.quota = nil
	}
}

func (p *snapshot) close() {
	if p.release != nil {
		p.release()
		p.release = nil
	}
	p.leave()
}
