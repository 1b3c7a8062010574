package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// IdempotencyKey is the value of an Idempotency-Key header, with its caller: each caller has its
// own keys.
type IdempotencyKey struct{ Caller, Value string }

// IdempotencyRecord is the stored outcome of a request with an Idempotency-Key.
type IdempotencyRecord struct {
	Fingerprint string // of the request
	Outcome     []byte // text, without the representations of resources
	Body        []byte // text: the representations
	Unread      int64  // size of a body that is too long to be read with the record: see RecordedBody

	// Until is how long the outcome is provisional, in the form of model.FormatTime; empty when it
	// is final.
	Until string
}

// IdempotencyRecord returns the record of a key, or nil.
func (t *Tx) IdempotencyRecord(key IdempotencyKey) (*IdempotencyRecord, error) {
	record, _, _, err := t.findRecord("1", key)
	return record, err
}

// LockKey returns the record of a key, or nil, and locks the key until the transaction
// ends. False means that another transaction has the lock. Bytes is what all records of the caller have.
func (t *Tx) LockKey(key IdempotencyKey) (record *IdempotencyRecord, locked bool, bytes int64, err error) {
	return t.findRecord(t.store.db.TryLock("$1", "$2"), key)
}

// smallBody is how many bytes of the body of a final record are read at once with its record.
const smallBody = "65536"

// RecordedBody returns the body of a record. False: the record is no longer there.
func (t *Tx) RecordedBody(key IdempotencyKey, record *IdempotencyRecord) (body []byte, found bool, err error) {
	found, err = db.One(t.conn, func(row model.Row) { body = row.AppendText(nil, 0) },
		"SELECT body FROM "+db.IdempotencyTable+" WHERE caller = $1 AND key = $2 AND fingerprint = $3",
		model.TextValue(key.Caller), model.TextValue(key.Value), model.TextValue(record.Fingerprint))
	return body, found, t.fault(err)
}

// findRecord returns a record, whether a condition holds, and the bytes of all records of the caller.
func (t *Tx) findRecord(condition string, key IdempotencyKey) (record *IdempotencyRecord, holds bool, bytes int64, err error) {
	const ( // the columns of the statement
		conditionHolds = iota
		fingerprint    // null: there is no record
		outcome
		body // null: it is too long
		until
		bodyBytes
		allBytes
	)
	_, err = db.One(t.conn, func(row model.Row) {
		holds, bytes = row.Int(conditionHolds) == 1, row.Int(allBytes)
		if row.Null(fingerprint) {
			return
		}
		record = &IdempotencyRecord{Fingerprint: row.Text(fingerprint), Outcome: row.AppendText(nil, outcome), Until: row.Text(until)}
		if row.Null(body) {
			record.Unread = row.Int(bodyBytes)
		} else {
			record.Body = row.AppendText(nil, body)
		}
	}, "SELECT CAST(c.holds AS integer), a.fingerprint, a.outcome, CASE WHEN a.until <> '' OR octet_length(a.body) <= "+smallBody+" THEN a.body END, a.until, octet_length(a.body), b.bytes FROM (SELECT "+condition+" AS holds) AS c"+
		" LEFT JOIN "+db.IdempotencyTable+" AS a ON a.caller = $1 AND a.key = $2 CROSS JOIN (SELECT "+lists.TotalSQL("$3", "$4")+" AS bytes) AS b",
		append([]model.Value{model.TextValue(key.Caller), model.TextValue(key.Value)}, lists.RecordsOf(key.Caller).Args()...)...)
	return record, holds, bytes, t.fault(err)
}

// Quota is how many bytes all records of a caller may have, and how many they had when the transaction began to use them.
type Quota struct{ Most, Used int64 }

// ErrQuota is the error of a record that a caller has no room for. The transaction must be rolled back.
var ErrQuota = errors.New("the idempotency records of the caller would have too many bytes")

// SaveRecord stores the record of a key, which has none.
func (t *Tx) SaveRecord(key IdempotencyKey, record *IdempotencyRecord, quota Quota) error {
	if err := t.useQuota(key.Caller, record.bytes(key), quota); err != nil {
		return err
	}
	_, err := t.conn.Exec("INSERT INTO "+db.IdempotencyTable+" (caller, key, fingerprint, outcome, body, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		model.TextValue(key.Caller), model.TextValue(key.Value), model.TextValue(record.Fingerprint), model.TextValue(string(record.Outcome)), model.TextValue(string(record.Body)), t.at, model.TextValue(record.Until))
	return t.fault(err)
}

// bytes is what the record counts: see lists.RecordBytes.
func (r *IdempotencyRecord) bytes(key IdempotencyKey) int64 {
	return int64(len(key.Value) + len(r.Outcome) + len(r.Body))
}

// useQuota counts the bytes of a record.
//
// Where transactions run at the same time, those with small records do not wait for each other while less than half of the quota is
// used: each only records a delta, and does not know those of the others. All others change the row of the caller, so that of two at
// the same time one runs again, and knows the other one. So the quota holds, whoever writes, but for small records that are
// stored in the moment in which a large one takes the other half.
func (t *Tx) useQuota(caller string, change int64, quota Quota) error {
	records := lists.RecordsOf(caller)
	if t.store.db.Traits().ManyWriters && change <= quota.Most/smallRecord && quota.Used+change <= quota.Most/2 {
		t.pending++
		return t.fault(t.conn.Defer(records.PendingBytes(change)))
	}
	id := sha256.Sum256([]byte(caller))
	if err := t.Announce(ResourceID{Collection: db.IdempotencyTable, ID: model.ID(id[:len(model.ID{})])}); err != nil {
		return err
	}
	used, err := lists.AddBytes(t.conn, records, change)
	if err == nil && change > 0 && used > quota.Most {
		return ErrQuota
	}
	return t.fault(err)
}

// smallRecord is the part of the quota that a record has at most to be small: 4 KiB of 64 MiB.
const smallRecord = 1 << 14

// FinalizeRecord replaces a provisional record by a final one. False means that there is none.
func (t *Tx) FinalizeRecord(key IdempotencyKey, record *IdempotencyRecord, most int64) (revised bool, err error) {
	quota, before := Quota{Most: most}, int64(0)
	revised, err = db.One(t.conn, func(row model.Row) { before, quota.Used = row.Int(0), row.Int(1) },
		"SELECT "+lists.RecordBytes+", "+lists.TotalSQL("$1", "$2")+" FROM "+db.IdempotencyTable+" WHERE caller = $3 AND key = $4 AND until <> ''",
		append(lists.RecordsOf(key.Caller).Args(), model.TextValue(key.Caller), model.TextValue(key.Value))...)
	if err != nil || !revised {
		return false, t.fault(err)
	}
	if change := record.bytes(key) - before; change != 0 {
		if err := t.useQuota(key.Caller, change, quota); err != nil {
			return false, err
		}
	}
	_, err = t.conn.Exec("UPDATE "+db.IdempotencyTable+" SET outcome = $1, body = $2, until = '' WHERE caller = $3 AND key = $4",
		model.TextValue(string(record.Outcome)), model.TextValue(string(record.Body)),
		model.TextValue(key.Caller), model.TextValue(key.Value))
	return true, t.fault(err)
}

// DeleteOldRecords removes records older than age.
func (s *Store) DeleteOldRecords(ctx context.Context, age time.Duration) error {
	before := model.TimeValue(model.FormatTime(s.now().Add(-age)))
	return s.deleteInBatches(ctx, func(t *Tx) (removed int, err error) {
		bytes := map[string]int64{}
		err = db.Each(t.conn, func(row model.Row) {
			bytes[row.Text(0)] += row.Int(1)
			removed++
		}, "DELETE FROM "+db.IdempotencyTable+" WHERE (caller, key) IN (SELECT caller, key FROM "+db.IdempotencyTable+
			" WHERE at < $1 ORDER BY at LIMIT $2) RETURNING caller, "+lists.RecordBytes, before, model.IntValue(deleteBatch))
		for caller, freed := range bytes {
			if err == nil {
				t.pending++
				err = t.conn.Defer(lists.RecordsOf(caller).PendingBytes(-freed))
			}
		}
		return removed, err
	})
}
