package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// errShared: what is between server and database gives a session to another client after each transaction.
var errShared = errors.New("the pooler between this server and PostgreSQL shares its sessions (PgBouncer: pool_mode = transaction or statement), " +
	"but prepared statements, locks and settings of the server belong to sessions. " +
	"Set pool_mode = session for this database, or give the URL of PostgreSQL itself")

// session prepares new connections: it makes sure that each has a session of its own, and sets the parameters of the session.
type session struct {
	config  *pgconn.Config // for another connection
	set     string         // the calls of set_config
	args    [][]byte       // and their arguments
	checked atomic.Bool    // that a pooler does not share sessions
}

// startupParameters can only be set when a connection begins. A pooler has to know these, and refuses others, so all others
// are set by a statement.
var startupParameters = []string{"client_encoding", "application_name", "options", "replication"}

// prepareSessions makes new connections have a session of their own, with the parameters of a configuration.
func prepareSessions(config *pgconn.Config) {
	s := &session{}
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(config.RuntimeParams)) {
		if slices.Contains(startupParameters, name) {
			continue
		}
		s.args = append(s.args, []byte(name), []byte(config.RuntimeParams[name]))
		calls = append(calls, fmt.Sprintf("set_config($%d, $%d, false)", len(s.args)-1, len(s.args)))
		delete(config.RuntimeParams, name)
	}
	s.set = "SELECT " + strings.Join(calls, ", ")
	s.config = config.Copy()
	config.AfterConnect = s.prepare
}

// prepare sets the parameters in one exchange, unless a pooler is in between. PostgreSQL begins a connection with the number of
// its process. A pooler invents the number: it has to recognise by it whose statement a client wants to cancel.
func (s *session) prepare(ctx context.Context, c *pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.ConnectTimeout)
	defer cancel()
	set := s.set
	if !s.checked.Load() {
		set += " WHERE pg_backend_pid()::bigint = " + strconv.FormatUint(uint64(c.PID()), 10)
	}
	result := c.ExecParams(ctx, set, s.args, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) > 0 {
		return result.Err
	}
	if err := s.check(ctx, c); err != nil {
		return err
	}
	s.checked.Store(true)
	return c.ExecParams(ctx, s.set, s.args, nil, nil, nil).Read().Err
}

// checks is how often it is looked whose sessions two connections have. Once is enough, unless other clients use the pooler.
const checks = 5

// check makes sure that a connection has the same session all the time, and another one has another. A pooler that gives sessions
// to transactions gives either the one that was used last or the next one.
func (s *session) check(ctx context.Context, c *pgconn.PgConn) error {
	other, err := pgconn.ConnectConfig(ctx, s.config)
	if err == nil {
		defer other.Close(context.WithoutCancel(ctx))
	}
	seen := map[*pgconn.PgConn]string{}
	for range checks {
		for _, each := range []*pgconn.PgConn{c, c, other} {
			process := ""
			if err == nil {
				process, err = backendOf(ctx, each)
			}
			if err != nil {
				return fmt.Errorf("the pooler between this server and PostgreSQL has no second session for it. "+
					"It must have as many as the server has connections (PgBouncer: default_pool_size): %w", err)
			}
			if before, known := seen[each]; known && before != process {
				return errShared
			}
			if seen[each] = process; seen[c] == seen[other] {
				return errShared
			}
		}
	}
	return nil
}

// backendOf is the process that executes the statements of a connection. It is not prepared: other clients could get it.
func backendOf(ctx context.Context, c *pgconn.PgConn) (string, error) {
	results, err := c.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return "", err
	}
	return string(results[0].Rows[0][0]), nil
}
