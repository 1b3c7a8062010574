package store

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/model"
)

// postgresGroup is the writers who wait to have one new resource each stored in the
// same table. Whoever is waiting when a statement is sent shares it. It stores what can be
// stored without further questions, and nothing of the others, who then go alone. A
// statement without a transaction around it is one of its own, so that one exchange with the
// database does all, for one writer as for many.
type postgresGroup struct {
	backend *postgresBackend
	table   *table
	sql     string

	mutex   sync.Mutex
	waiting []*creation
	running int // statements under way
}

const (
	// maxUnderWay is how many statements of a group may be under way.
	maxUnderWay = 4
	// enough is how many must wait before another statement is sent beside one that is
	// under way: a few large ones are less work than many small ones.
	enough = 48
	// groupPatience is how long a statement may wait for somebody else's transaction that
	// is about to store, or delete, what is of consequence to one of its resources.
	groupPatience = "100ms"
)

// groupConfig is how groups connect. Their connections are few, and their own: nobody who
// waits for a group holds one that it needs. The plan of a statement is the same for any
// number of resources, and takes longer to make than to carry out.
func groupConfig(config *pgxpool.Config) *pgxpool.Config {
	config = config.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = maxUnderWay, 0, 0
	config.ConnConfig.RuntimeParams["lock_timeout"] = groupPatience
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	return config
}

// creation is one new resource.
type creation struct {
	ctx            context.Context
	known          version // of the schema that it was made by
	record         model.Record
	representation []byte
	at             model.Value

	stored   bool
	revision int64
	err      error
	done     chan struct{}
}

func (b *postgresBackend) store(t *table, wanted *creation) {
	group, ok := b.groups.Load(t)
	if !ok {
		group, _ = b.groups.LoadOrStore(t, &postgresGroup{backend: b, table: t, sql: groupStatement(b, t)})
	}
	wanted.done = make(chan struct{})
	group.(*postgresGroup).join(wanted)
	<-wanted.done
}

func (g *postgresGroup) join(wanted *creation) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.waiting = append(g.waiting, wanted)
	if g.running == 0 || g.running < maxUnderWay && len(g.waiting) >= enough {
		g.running++
		go g.serve()
	}
}

// serve stores what waits until there is nothing more.
func (g *postgresGroup) serve() {
	for {
		// On one core the others who are about to write must get to run, or
		// each of them would find the statement gone.
		runtime.Gosched()
		batch := g.take()
		if batch == nil {
			return
		}
		g.storeAll(batch)
		for _, wanted := range batch {
			close(wanted.done)
		}
	}
}

// take takes those who wait, as far as one statement goes.
func (g *postgresGroup) take() (batch []*creation) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if len(g.waiting) == 0 {
		g.running--
		return nil
	}
	n := min(len(g.waiting), maxSharing)
	batch, g.waiting = g.waiting[:n:n], g.waiting[n:]
	return batch
}

// storeAll stores those whose clients still wait, and that were made by one version of
// the schema. What can be found out of a statement that was not answered is found out for
// each by itself.
func (g *postgresGroup) storeAll(batch []*creation) {
	var together []*creation
	for _, wanted := range batch {
		if wanted.err = wanted.ctx.Err(); wanted.err == nil && (len(together) == 0 || wanted.known == together[0].known) {
			together = append(together, wanted)
		}
	}
	if len(together) == 0 {
		return
	}
	acquired, err := g.backend.acquireFrom(context.Background(), g.backend.shared)
	if hasCode(err, tooManyConns) {
		return // each has to go alone
	}
	if err != nil {
		fail(together, err)
		return
	}
	session, err := g.send(acquired, together)
	if err == nil || isAnswer(err) {
		acquired.Release()
		return // of an error nothing remains, and each is to find out alone whose it was
	}
	_ = acquired.Conn().Close(context.Background()) // so that its session comes to an end
	acquired.Release()
	g.backend.reset()
	if session == nil {
		return // nothing was sent
	}
	if err := g.resolve(session, together); err != nil {
		fail(together, errors.Join(errUnknownOutcome, err))
	}
}

func fail(batch []*creation, err error) {
	for _, wanted := range batch {
		wanted.stored, wanted.err = false, err
	}
}

// session names the process that serves a connection, for as long as the database has
// existed.
type session struct{ process, since string }

const sessionKey = "plural.session"

// sessionOf finds the session of a connection, once.
func sessionOf(ctx context.Context, c *pgx.Conn) (*session, error) {
	data := c.PgConn().CustomData()
	if known, ok := data[sessionKey].(*session); ok {
		return known, nil
	}
	s := &session{}
	err := c.QueryRow(ctx, "SELECT pid::text, extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()").Scan(&s.process, &s.since)
	if err != nil {
		return nil, err
	}
	data[sessionKey] = s
	return s, nil
}

// send sends the statement and reads which resources it has stored. The session is nil if it
// was not sent.
func (g *postgresGroup) send(acquired *pgxpool.Conn, batch []*creation) (sentBy *session, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), g.backend.patience)
	defer cancel()
	c := acquired.Conn()
	by, err := sessionOf(ctx, c)
	if err != nil {
		return nil, err
	}
	prepared, err := c.Prepare(ctx, g.sql, g.sql)
	if err != nil {
		return nil, err
	}
	revisions := make(map[model.ID]int64, len(batch))
	forgetWarnings(c.PgConn())
	rows := c.PgConn().ExecStatement(ctx, prepared, g.arguments(batch), binaryFormat, binaryFormat)
	for rows.NextRow() {
		values := rows.Values()
		revisions[model.ID(values[0])] = fromBits(binary.BigEndian.Uint64(values[1]))
	}
	if _, err := rows.Close(); err != nil {
		return by, err
	}
	if warned(c.PgConn()) {
		return by, errUnreplicated
	}
	for _, wanted := range batch {
		wanted.revision, wanted.stored = revisions[wanted.record.ID(model.IDColumn)]
	}
	return by, nil
}

// resolve finds out what a statement has stored that was not answered. When the session
// that it was sent to is over, it is committed or never will be. The ids are ours, so that
// nobody else can have stored them.
func (g *postgresGroup) resolve(by *session, batch []*creation) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(maxWait, g.backend.patience))
	defer cancel()
	for {
		var goesOn bool
		err := g.backend.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid::text = $1 AND extract(epoch FROM backend_start)::text = $2)",
			by.process, by.since).Scan(&goesOn)
		if err == nil && !goesOn {
			if err = g.backend.awaitStandby(ctx); err == nil {
				err = g.find(ctx, batch)
			}
			if err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(50 * time.Millisecond): // it still goes on, or the database is away
		}
	}
}

// find looks for the changes that have stored resources.
func (g *postgresGroup) find(ctx context.Context, batch []*creation) error {
	for _, wanted := range batch {
		at, _ := time.Parse(time.RFC3339, wanted.at.Text()) // FormatTime wrote it
		err := g.backend.pool.QueryRow(ctx, "SELECT revision FROM "+changesTable+" WHERE at = $1 AND collection = $2 AND id = $3 AND kind = 'create'",
			at, g.table.collection.Name, [16]byte(wanted.record.ID(model.IDColumn))).Scan(&wanted.revision)
		if wanted.stored = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return nil
}

// groupStatement stores new resources with all that belongs to them, if the schema is in
// force that they were made by, what they refer to is there, and nothing is in conflict.
// Its arguments are those of postgresGroup.arguments. It names the table of schemas ahead
// of all others, so that it is locked first: see lockTables.
func groupStatement(d dialect, t *table) string {
	c := t.collection
	var places, names, values []string
	for i, column := range c.Columns()[:c.RevisionColumn()] {
		sqlType, _ := postgresElement(column.Kind)
		places = append(places, "$"+strconv.Itoa(groupArguments+i+1)+"::"+sqlType+"[]")
		names = append(names, "c"+strconv.Itoa(i))
		values = append(values, "u.c"+strconv.Itoa(i))
	}
	id, revision := t.columns[model.IDColumn], t.columns[c.RevisionColumn()]
	conditions := ""
	for _, link := range c.Links() {
		column := values[link.Column]
		conditions += " AND (" + column + " IS NULL OR EXISTS (SELECT FROM " + quote(d, link.To.Name) + " r WHERE r." + quote(d, link.To.Columns()[model.IDColumn].Name) + " = " + column + "))"
	}
	parent, ofParent := "NULL", ""
	if link := c.ParentLink(); link != nil {
		parent = t.columns[link.Column]
		ofParent = " UNION ALL SELECT n.parent::text, n.id FROM stored n WHERE n.parent IS NOT NULL"
	}
	name := "'" + c.Name + "'"
	return "WITH stored AS (INSERT INTO " + t.name + " (" + t.all + ") SELECT " + strings.Join(values, ", ") + ", nextval('" + changesTable + "_revision_seq')" +
		" FROM " + schemasTable + " s CROSS JOIN unnest(" + strings.Join(places, ", ") + ") AS u (" + strings.Join(names, ", ") + ")" +
		" WHERE s.version = $1 AND s.at = $2 AND NOT EXISTS (SELECT FROM " + schemasTable + " WHERE version > $1)" + conditions +
		" ON CONFLICT DO NOTHING RETURNING " + id + " AS id, " + revision + " AS revision, " + parent + " AS parent)," +
		" changed AS (INSERT INTO " + changesTable + " (revision, collection, id, kind, at, caller, representation) OVERRIDING SYSTEM VALUE" +
		" SELECT n.revision, " + name + ", n.id, 'create', u.at, '', u.representation FROM stored n JOIN unnest($" + strconv.Itoa(groupArguments+1) +
		"::uuid[], $3::timestamptz[], $4::text[]) AS u (id, at, representation) ON u.id = n.id)," +
		" noted AS (INSERT INTO " + deltasTable + " (collection, parent, id, change) SELECT " + name + ", list.parent, list.id, 1" +
		" FROM (SELECT '' AS parent, n.id FROM stored n" + ofParent + ") AS list)" +
		" SELECT n.id, n.revision FROM " + schemasTable + " s CROSS JOIN stored n WHERE s.version = $1"
}

// groupArguments is how many arguments come ahead of the columns.
const groupArguments = 4

// arguments are the version of the schema and when it came into force, the times and the
// representations of all resources, and then each of their columns.
func (g *postgresGroup) arguments(batch []*creation) [][]byte {
	c := g.table.collection
	list := func(kind model.Kind, value func(*creation) model.Value) []byte {
		_, oid := postgresElement(kind)
		array := newPostgresArray(oid, len(batch))
		for _, wanted := range batch {
			value(wanted).Bind(&array)
		}
		return array.bytes
	}
	known := batch[0].known
	arguments := [][]byte{
		binary.BigEndian.AppendUint64(nil, bitsOf(known.number)),
		binary.BigEndian.AppendUint64(nil, bitsOf(postgresTime(known.at))),
		list(model.KindDateTime, func(wanted *creation) model.Value { return wanted.at }),
		list(model.KindText, func(wanted *creation) model.Value { return model.TextValue(string(wanted.representation)) }),
	}
	for i, column := range c.Columns()[:c.RevisionColumn()] {
		arguments = append(arguments, list(column.Kind, func(wanted *creation) model.Value { return wanted.record[i] }))
	}
	return arguments
}

var binaryFormat = []int16{1}

// postgresElement is the type of the elements of an array of values of a kind.
func postgresElement(kind model.Kind) (name string, oid uint32) {
	if kind.IsDecimal() {
		return "bigint", int8OID
	}
	switch kind {
	case model.KindUUID:
		return "uuid", uuidOID
	case model.KindInteger:
		return "bigint", int8OID
	case model.KindNumber:
		return "double precision", float8OID
	case model.KindBoolean:
		return "boolean", boolOID
	case model.KindDateTime:
		return "timestamptz", timestamptzOID
	default:
		return "text", textOID
	}
}

// postgresArray is the binary form of an array, to which values bind themselves.
type postgresArray struct{ bytes []byte }

func newPostgresArray(oid uint32, n int) postgresArray {
	bytes := make([]byte, 0, 20+n*24)
	count := uint32(n)                                     // #nosec G115 -- as many as wait, at most
	for _, number := range []uint32{1, 1, oid, count, 1} { // dimensions, whether there may be nulls, type, length, first index
		bytes = binary.BigEndian.AppendUint32(bytes, number)
	}
	return postgresArray{bytes}
}

func (a *postgresArray) length(n int) {
	a.bytes = binary.BigEndian.AppendUint32(a.bytes, uint32(n)) // #nosec G115 -- -1 is null, and PostgreSQL takes no values beyond 1 GiB
}

func (a *postgresArray) BindNull() { a.length(-1) }

func (a *postgresArray) BindBool(v bool) {
	a.length(1)
	if v {
		a.bytes = append(a.bytes, 1)
	} else {
		a.bytes = append(a.bytes, 0)
	}
}

func (a *postgresArray) BindInt(v int64) {
	a.length(8)
	a.bytes = binary.BigEndian.AppendUint64(a.bytes, bitsOf(v))
}

func (a *postgresArray) BindFloat(v float64) { a.BindInt(fromBits(math.Float64bits(v))) }

func (a *postgresArray) BindID(v model.ID) {
	a.length(len(v))
	a.bytes = append(a.bytes, v[:]...)
}

func (a *postgresArray) BindText(v string) {
	a.length(len(v))
	a.bytes = append(a.bytes, v...)
}

func (a *postgresArray) BindTime(formatted string) {
	a.BindInt(postgresTime(formatted))
}
