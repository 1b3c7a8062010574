package operation

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
)

// deleteBatch bounds how long a cleanup blocks other writers.
const deleteBatch = 200

// DeleteOld removes operations that finished longer ago than age.
func (o *Operations) DeleteOld(ctx context.Context, age time.Duration) error {
	c := o.schema.Operations()
	before := model.TimeValue(model.FormatTime(time.Now().Add(-age)))
	old := query.And{
		query.In{Column: c.Field("status").Column, Values: []model.Value{model.TextValue("succeeded"), model.TextValue("failed")}},
		query.Compare{Column: c.UpdatedColumn(), Op: query.Less, Value: before},
	}
	for {
		var removed int
		err := o.store.Write(ctx, func(tx *store.Tx) error {
			records, err := finished(tx, c, old)
			if removed = len(records); err != nil {
				return err
			}
			for _, record := range records {
				if _, err := tx.Delete(c, record); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || removed < deleteBatch {
			return err
		}
	}
}

// finished reads the oldest operations that pass a filter.
func finished(tx *store.Tx, c *model.Collection, old query.Filter) (records []model.Record, err error) {
	rows, err := tx.Select(c, statement.Selection{Plan: statement.Plan{Filter: old}, Order: statement.NewOrder(nil), Take: deleteBatch})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil || !more {
			return records, err
		}
		records = append(records, c.Scan(rows))
	}
}
