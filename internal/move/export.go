package move

import (
	"context"
	"encoding/json"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// Export writes the resources of a collection to a file.
type Export struct {
	Client     *client.Client
	Collection client.Description
	Rows       Writer
	Parameters string // filters, sort and range, as in a URL

	// Progress is called with the number of rows that are written.
	Progress func(rows int64)
}

// Run exports all rows. If it fails, the file is not whole.
func (e *Export) Run(ctx context.Context) (rows int64, err error) {
	resources := client.Of[json.RawMessage](e.Client, e.Collection.Name)
	for representation, err := range resources.All(ctx, params.Raw(e.Parameters)) {
		if err != nil {
			return rows, err
		}
		if err := e.Rows.Write(representation); err != nil {
			return rows, err
		}
		if rows++; e.Progress != nil {
			e.Progress(rows)
		}
	}
	return rows, e.Rows.Close()
}
