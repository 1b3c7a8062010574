package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

// Job is an unfinished operation: its request and its progress. The queue has no finished
// operations, so it stays small.
type Job struct {
	Operation  model.ID
	Caller     string
	Method     string
	Collection string // its name in the schema of the server
	Resource   model.ID
	Parent     *model.ID
	Body       string

	IfMatch, IfNoneMatch string // empty: not there

	// Attempt counts the claims. A worker with a lower number has lost the job to another.
	Attempt int64

	// Schema is the schema version of the server that accepted the job (column accepted_by). A server with an older one
	// does not claim it, nor does one of an expanded database with a newer one.
	Schema int64

	// Version is the version of the interface under whose names the job was accepted; 0: the newest.
	Version int64

	// Traceparent is the trace of the request that was accepted, if it was sampled. It is stored in the column of the caller, as in
	// the change log.
	Traceparent string
}

const jobColumns = "operation, caller, method, collection, resource, parent, body, if_match, if_none_match, attempt, accepted_by, version"

func scanJob(row model.Row) Job {
	job := Job{
		Operation: row.ID(0), Method: row.Text(2), Collection: row.Text(3), Resource: row.ID(4),
		Body: row.Text(6), IfMatch: row.Text(7), IfNoneMatch: row.Text(8), Attempt: row.Int(9), Schema: row.Int(10), Version: row.Int(11),
	}
	job.Traceparent, job.Caller = tracing.Split(row.Text(1))
	if !row.Null(5) {
		parent := row.ID(5)
		job.Parent = &parent
	}
	return job
}

func (t *Tx) jobs(sql string, args ...model.Value) (jobs []Job, err error) {
	jobs, err = db.All(t.conn, scanJob, sql, args...)
	for i := range jobs {
		jobs[i].Collection = t.bound.ownName(jobs[i].Collection)
	}
	return jobs, t.fault(err)
}

// Backlog counts the unfinished operations, up to most. SQLite would prepare a statement with a parameter in LIMIT again each time.
func (t *Tx) Backlog(most int64) (n int64, err error) {
	n, err = db.Int(t.conn, "SELECT count(*) FROM (SELECT due FROM "+db.QueueTable+" LIMIT "+strconv.FormatInt(most, 10)+") AS unfinished")
	return n, t.fault(err)
}

// BacklogOf counts the unfinished operations of a caller, up to most.
func (t *Tx) BacklogOf(caller string, most int64) (n int64, err error) {
	c := t.store.schema.Operations()
	table := t.bound.table(c)
	n, err = db.Int(t.conn, "SELECT count(*) FROM (SELECT 1 FROM "+db.QueueTable+" JOIN "+table.Name+" AS operations ON operations."+table.Columns[model.IDColumn]+" = operation WHERE operations."+
		table.Columns[c.CallerColumn()]+" = $1 LIMIT "+strconv.FormatInt(most, 10)+") AS unfinished", model.TextValue(caller))
	return n, t.fault(err)
}

// Unfinished lists the unfinished operations on a resource, in the order of execution.
func (t *Tx) Unfinished(c *model.Collection, id model.ID) ([]Job, error) {
	return t.jobs("SELECT "+jobColumns+" FROM "+db.QueueTable+" WHERE collection = $1 AND resource = $2 ORDER BY turn",
		model.TextValue(t.bound.nameOf(c)), model.IDValue(id))
}

// HasUnfinished reports whether there are unfinished operations on a resource.
func (t *Tx) HasUnfinished(c *model.Collection, id model.ID) (bool, error) {
	found, err := db.One(t.conn, func(model.Row) {}, "SELECT 1 FROM "+db.QueueTable+" WHERE collection = $1 AND resource = $2 LIMIT 1",
		model.TextValue(t.bound.nameOf(c)), model.IDValue(id))
	return found, t.fault(err)
}

// Creating finds the pending operation that will create a resource, and its caller.
func (t *Tx) Creating(c *model.Collection, id model.ID) (operation model.ID, caller string, found bool, err error) {
	found, err = db.One(t.conn, func(row model.Row) {
		operation = row.ID(0)
		_, caller = tracing.Split(row.Text(1))
	},
		"SELECT operation, caller FROM "+db.QueueTable+" WHERE collection = $1 AND resource = $2 AND method = 'POST' ORDER BY turn LIMIT 1",
		model.TextValue(t.bound.nameOf(c)), model.IDValue(id))
	return operation, caller, found, t.fault(err)
}

// resourceOf names the resource of a job, as all servers name it. A migration may have removed its collection.
func (t *Tx) resourceOf(job Job) ResourceID {
	if c := t.store.schema.Collection(job.Collection); c != nil {
		return t.ResourceID(c, job.Resource)
	}
	return ResourceID{Collection: job.Collection, ID: job.Resource}
}

// Enqueue adds an operation after those on the same resource and those that it must wait for.
func (t *Tx) Enqueue(job Job, awaited []model.ID) error {
	named := t.resourceOf(job)
	if err := t.Announce(named); err != nil {
		return err
	}
	collection, resource := model.TextValue(named.Collection), model.IDValue(job.Resource)
	turn := int64(1)
	_, err := db.One(t.conn, func(row model.Row) {
		turn = row.Int(0) + 1
		awaited = append(awaited[:len(awaited):len(awaited)], row.ID(1))
	}, "SELECT turn, operation FROM "+db.QueueTable+" WHERE collection = $1 AND resource = $2 ORDER BY turn DESC LIMIT 1", collection, resource)
	if err != nil {
		return t.fault(err)
	}
	awaited = slices.Compact(slices.SortedFunc(slices.Values(awaited), model.ID.Compare)) // an operation can be awaited for several reasons
	parent := model.Null
	if job.Parent != nil {
		parent = model.IDValue(*job.Parent)
	}
	if _, err = t.conn.Exec("INSERT INTO "+db.QueueTable+" ("+jobColumns+", turn, blockers, followers, due) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, $12, $13, 0, $14)",
		model.IDValue(job.Operation), model.TextValue(tracing.Join(t.trace, job.Caller)), model.TextValue(job.Method), collection, resource, parent, model.TextValue(job.Body),
		model.TextValue(job.IfMatch), model.TextValue(job.IfNoneMatch), model.IntValue(t.store.version), model.IntValue(job.Version), model.IntValue(turn), model.IntValue(int64(len(awaited))), t.at); err != nil {
		return t.fault(err)
	}
	for _, other := range awaited {
		if err := t.follow(job.Operation, other); err != nil {
			return err
		}
	}
	return nil
}

// follow records that an operation waits for another. It writes the row of the awaited one, so that
// no worker can finish that concurrently and miss the follower. Nobody reads the column followers.
func (t *Tx) follow(follower, awaited model.ID) error {
	changed, err := t.conn.Exec("UPDATE "+db.QueueTable+" SET followers = followers + 1 WHERE operation = $1", model.IDValue(awaited))
	if err == nil && changed != 1 {
		err = fmt.Errorf("the operation %s, which %s follows, is not in the queue", awaited, follower)
	}
	if err == nil {
		_, err = t.conn.Exec("INSERT INTO "+db.FollowersTable+" (awaited, follower) VALUES ($1, $2)", model.IDValue(awaited), model.IDValue(follower))
	}
	return t.fault(err)
}

// Claim claims executable operations for the time of a lease. The CTE is materialized: a plain
// subquery may run for each row, and find other rows each time as those found are locked. The LIMIT is as in Backlog.
func (t *Tx) Claim(most int, lease time.Duration) ([]Job, error) {
	return t.jobs("WITH ready AS MATERIALIZED (SELECT operation FROM "+db.QueueTable+
		" WHERE blockers = 0 AND due <= $1 AND accepted_by BETWEEN $2 AND $3 ORDER BY due, operation LIMIT "+strconv.Itoa(most)+t.store.db.SkipLocked()+")"+
		" UPDATE "+db.QueueTable+" SET attempt = attempt + 1, due = $4 WHERE operation IN (SELECT operation FROM ready) RETURNING "+jobColumns,
		t.at, model.IntValue(t.bound.oldest), model.IntValue(t.store.version), t.after(lease))
}

func (t *Tx) after(delay time.Duration) model.Value {
	return model.TimeValue(model.FormatTime(t.store.now().Add(delay)))
}

// Renew checks that a job is still claimed by this worker, and makes it due for others after a delay: that of a
// lease, or the pause before a retry. False means that another worker has claimed or finished it.
func (t *Tx) Renew(job Job, delay time.Duration) (bool, error) {
	// Requests that enqueue operations on the resource write to the queue as well.
	if err := t.Announce(t.resourceOf(job)); err != nil {
		return false, err
	}
	changed, err := t.conn.Exec("UPDATE "+db.QueueTable+" SET due = $1 WHERE operation = $2 AND attempt = $3",
		t.after(delay), model.IDValue(job.Operation), model.IntValue(job.Attempt))
	return changed == 1, t.fault(err)
}

// Finish removes an operation from the queue, and unblocks those that wait for it.
func (t *Tx) Finish(job Job) error {
	operation := model.IDValue(job.Operation)
	for _, statement := range []string{
		"UPDATE " + db.QueueTable + " SET blockers = blockers - 1 WHERE operation IN (SELECT follower FROM " + db.FollowersTable + " WHERE awaited = $1)",
		"DELETE FROM " + db.FollowersTable + " WHERE awaited = $1",
		"DELETE FROM " + db.QueueTable + " WHERE operation = $1",
	} {
		if _, err := t.conn.Exec(statement, operation); err != nil {
			return t.fault(err)
		}
	}
	return nil
}

// Next is when the next unblocked operation is due, if there is one.
func (t *Tx) Next() (at time.Time, found bool, err error) {
	var text []byte
	found, err = db.One(t.conn, func(row model.Row) { text = row.AppendText(nil, 0) },
		"SELECT due FROM "+db.QueueTable+" WHERE blockers = 0 AND accepted_by BETWEEN $1 AND $2 ORDER BY due LIMIT 1", model.IntValue(t.bound.oldest), model.IntValue(t.store.version))
	if err == nil && found {
		at, err = time.Parse(time.RFC3339, string(text))
	}
	return at, found, t.fault(err)
}

// IsOnlyServer reports whether no other server uses the database.
func (s *Store) IsOnlyServer() bool { return !s.db.Traits().ManyWriters }

// RequeueAll makes all operations due that an earlier run of the server left unfinished, if no
// other server uses the database.
func (s *Store) RequeueAll(ctx context.Context) error {
	if !s.IsOnlyServer() {
		return nil // their leases expire
	}
	return s.Write(ctx, func(t *Tx) error {
		_, err := t.conn.Exec("UPDATE "+db.QueueTable+" SET due = $1 WHERE due > $2 AND attempt > 0", t.at, t.at)
		return err
	})
}
