//go:build linux

package bench

import (
	"context"
	"errors"

	"github.com/plural-go/plural/internal/pgserver"
)

// cluster is a PostgreSQL server with the settings it comes with: unlike that of the tests it syncs,
// as what it takes is measured.
type cluster struct{ *pgserver.Server }

// startCluster makes an empty server on a core.
func startCluster(ctx context.Context, on core) (*cluster, error) {
	server, err := pgserver.New()
	if err != nil {
		return nil, err
	}
	server.OnThread = func() error { return on.pinThread(0) }
	if err = server.Init(); err == nil {
		err = server.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &cluster{server}, nil
}

// exec runs a statement in one of the databases.
func (c *cluster) exec(ctx context.Context, database, statement string) error {
	return pgserver.Query(ctx, c.url(database), nil, statement)
}

func (c *cluster) url(database string) string { return pgserver.URL(database, c.Server) }
