package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
)

// snapshot is a transaction in which a range is read, row by row.
type snapshot struct {
	tx      *Tx
	release func() // ends the transaction, if it is the reader's own; nil: there is none
}

func (p *snapshot) open(ctx context.Context, s *Store, how db.Use) (err error) {
	if p.tx, err = s.read(ctx, how); err == nil {
		p.release = p.tx.Close
	}
	return err
}

// Extend lets the range be read for as long as its client takes. It is called after the first part if
// there is more. Each caller has a share of such reads.
func (p *snapshot) Extend() error {
	return p.tx.fault(p.tx.turn.extend(p.tx.ctx, p.tx.store.long))
}

func (p *snapshot) close() {
	if p.release != nil {
		p.release()
		p.release = nil
	}
}
