package resource

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
)

// Judge calls judge with a resource on the path and what it refers to, in one snapshot, so that the rules of
// any caller can be evaluated for it. A resource that does not exist for the caller of the path is 404.
func (r *Resources) Judge(ctx context.Context, path Path, id model.ID, judge func(*auth.Stored) error) error {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	record, err := path.get(tx, id)
	if err != nil {
		return err
	}
	return judge(&auth.Stored{Record: record, Find: tx.Find})
}
