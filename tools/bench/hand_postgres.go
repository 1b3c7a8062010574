package bench

import (
	"context"
	"encoding/binary"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// handPostgres is the hand-written handler's database behind pgx. Statements are
// prepared once for each connection, as pgx does by itself, and rows are read in their
// binary form.
type handPostgres struct {
	pool    *pgxpool.Pool
	jobs    chan *postgresJob
	stopped chan struct{}
}

const postgresTable = `CREATE TABLE users (id uuid PRIMARY KEY, name text NOT NULL, email text NOT NULL, active boolean NOT NULL,
	created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL);
	CREATE INDEX users_active ON users (active, id)`

// createHandPostgres makes the table with its rows.
func createHandPostgres(ctx context.Context, url string, rows int) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, postgresTable); err != nil {
		return err
	}
	loaded, _ := time.Parse(timeLayout, loadedAt) // is one
	next := func(row int) ([]any, error) {
		id, err := parseID(rowID(row))
		return []any{id, rowName(row), rowEmail(row), rowActive(row), loaded, loaded}, err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"users"}, []string{"id", "name", "email", "active", "created_at", "updated_at"},
		pgx.CopyFromSlice(rows, next))
	if err == nil {
		_, err = conn.Exec(ctx, "VACUUM ANALYZE users")
	}
	return err
}

func openHandPostgres(ctx context.Context, url string) (*handPostgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 24
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	db := &handPostgres{pool: pool, jobs: make(chan *postgresJob, 256), stopped: make(chan struct{})}
	go db.write()
	return db, pool.Ping(ctx)
}

func (db *handPostgres) close() {
	close(db.jobs)
	<-db.stopped
	db.pool.Close()
}

func (db *handPostgres) get(ctx context.Context, dst []byte, id [16]byte) ([]byte, error) {
	return db.one(ctx, dst, "SELECT "+userColumns+" FROM users WHERE id = $1", id)
}

func (db *handPostgres) rename(ctx context.Context, dst []byte, id [16]byte, name, _ string) ([]byte, error) {
	return db.one(ctx, dst, "UPDATE users SET name = $2, updated_at = now() WHERE id = $1 RETURNING "+userColumns, id, name)
}

// one appends the one row of a statement.
func (db *handPostgres) one(ctx context.Context, dst []byte, statement string, args ...any) ([]byte, error) {
	rows, err := db.pool.Query(ctx, statement, args...)
	if err != nil {
		return dst, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return dst, err
		}
		return dst, errNone
	}
	dst = appendPostgres(dst, rows.RawValues())
	rows.Close()
	return dst, rows.Err()
}

func (db *handPostgres) list(ctx context.Context, q listQuery, p *page) error {
	where := ""
	if q.onlyActive {
		where = " WHERE active"
	}
	rows, err := db.pool.Query(ctx, "SELECT "+userColumns+" FROM users"+where+" ORDER BY id LIMIT $1 OFFSET $2", q.limit, q.offset)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := p.next(); err != nil {
			return err
		}
		p.buffer = appendPostgres(p.buffer, rows.RawValues())
	}
	return rows.Err()
}

// appendPostgres appends a row from its binary form.
func appendPostgres(dst []byte, values [][]byte) []byte {
	var created, updated [len(timeLayout)]byte
	return appendUser(dst, values[0], values[1], values[2], values[3][0] != 0,
		appendPostgresTime(created[:0], values[4]), appendPostgresTime(updated[:0], values[5]))
}

// PostgreSQL counts microseconds from this moment.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func appendPostgresTime(dst, value []byte) []byte {
	return time.UnixMicro(postgresEpoch+int64(binary.BigEndian.Uint64(value))).UTC().AppendFormat(dst, timeLayout)
}

type postgresJob struct {
	user *newUser
	err  error
	done chan struct{}
}

func (db *handPostgres) create(_ context.Context, u *newUser) error {
	job := &postgresJob{user: u, done: make(chan struct{})}
	db.jobs <- job
	<-job.done
	return job.err
}

// write inserts all users that wait with one statement, or, if one of them does
// harm, each alone.
func (db *handPostgres) write() {
	defer close(db.stopped)
	for first := range db.jobs {
		runtime.Gosched() // so that others can come
		batch := []*postgresJob{first}
		for len(db.jobs) > 0 && len(batch) < cap(db.jobs) {
			batch = append(batch, <-db.jobs)
		}
		if err := db.insert(batch); err != nil {
			for i, job := range batch {
				job.err = db.insert(batch[i : i+1])
			}
		}
		for _, job := range batch {
			close(job.done)
		}
	}
}

func (db *handPostgres) insert(batch []*postgresJob) error {
	var (
		ids           = make([][16]byte, len(batch))
		names, emails = make([]string, len(batch)), make([]string, len(batch))
		active        = make([]bool, len(batch))
		created       = make([]time.Time, len(batch))
	)
	for i, job := range batch {
		u := job.user
		ids[i], names[i], emails[i], active[i] = u.id, u.Name, u.Email, u.Active
		created[i], _ = time.Parse(timeLayout, u.created) // we have written it
	}
	_, err := db.pool.Exec(context.Background(), "INSERT INTO users ("+userColumns+`) SELECT id, name, email, active, created, created
		FROM unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::timestamptz[]) AS u (id, name, email, active, created)`,
		ids, names, emails, active, created)
	return err
}
