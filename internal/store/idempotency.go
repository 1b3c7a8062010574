package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// IdempotencyKey is the value of an Idempotency-Key header, with its caller: each caller has its
// own keys.
type IdempotencyKey struct{ Caller, Value string }

// IdempotencyRecord is the stored reply to a request with an Idempotency-Key.
type IdempotencyRecord struct {
	Fingerprint string // of the request
	Status      int
	Header      map[string]string
	Body        []byte
	Unread      int64 // size of a body that is too long to be read with the record: see RecordedBody

	// Until is how long the reply is provisional, in the form of model.FormatTime; empty when it
	// is final.
	Until string
}

// FindRecord returns the record of a key, or nil.
func (t *Tx) FindRecord(key IdempotencyKey) (*IdempotencyRecord, error) {
	record, _, err := t.findRecord("1", key)
	return record, err
}

// LockRecord returns the record of a key, or nil, and locks the key until the transaction
// ends. False means that another transaction has the lock.
func (t *Tx) LockRecord(key IdempotencyKey) (record *IdempotencyRecord, locked bool, err error) {
	return t.findRecord(t.store.db.TryLock("$1", "$2"), key)
}

// smallBody is how many bytes of a final reply are read at once with its record.
const smallBody = "65536"

// RecordedBody returns the body of the reply of a record. False: the record is no longer there.
func (t *Tx) RecordedBody(key IdempotencyKey, record *IdempotencyRecord) (body []byte, found bool, err error) {
	found, err = db.One(t.conn, func(row model.Row) { body = row.AppendText(nil, 0) },
		"SELECT body FROM "+db.IdempotencyTable+" WHERE caller = $1 AND key = $2 AND fingerprint = $3",
		model.TextValue(key.Caller), model.TextValue(key.Value), model.TextValue(record.Fingerprint))
	return body, found, t.fault(err)
}

// findRecord returns a record, and whether a condition holds.
func (t *Tx) findRecord(condition string, key IdempotencyKey) (record *IdempotencyRecord, holds bool, err error) {
	var header []byte
	_, err = db.One(t.conn, func(row model.Row) {
		if holds = row.Int(0) == 1; row.Null(1) {
			return
		}
		record = &IdempotencyRecord{
			Fingerprint: row.Text(1),
			Status:      int(row.Int(2)),
			Until:       row.Text(5),
		}
		if row.Null(4) {
			record.Unread = row.Int(6)
		} else {
			record.Body = row.AppendText(nil, 4)
		}
		header = row.AppendText(nil, 3)
	}, "SELECT CAST(c.holds AS integer), a.fingerprint, a.status, a.header, CASE WHEN a.until <> '' OR octet_length(a.body) <= "+smallBody+" THEN a.body END, a.until, octet_length(a.body) FROM (SELECT "+condition+" AS holds) AS c"+
		" LEFT JOIN "+db.IdempotencyTable+" AS a ON a.caller = $1 AND a.key = $2",
		model.TextValue(key.Caller), model.TextValue(key.Value))
	if err == nil && record != nil {
		err = json.Unmarshal(header, &record.Header)
	}
	return record, holds, t.fault(err)
}

// SaveRecord stores the record of a key. RunRecorded has found none before; one that is there all the same is replaced.
func (t *Tx) SaveRecord(key IdempotencyKey, record *IdempotencyRecord) error {
	header, err := json.Marshal(record.Header)
	if err == nil {
		_, err = t.conn.Exec("INSERT INTO "+db.IdempotencyTable+" (caller, key, fingerprint, status, header, body, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"+
			" ON CONFLICT (caller, key) DO UPDATE SET status = excluded.status, header = excluded.header, body = excluded.body, until = excluded.until",
			model.TextValue(key.Caller), model.TextValue(key.Value), model.TextValue(record.Fingerprint), model.IntValue(int64(record.Status)),
			model.TextValue(string(header)), model.TextValue(string(record.Body)), t.at, model.TextValue(record.Until))
	}
	return t.fault(err)
}

// FinalizeRecord replaces a provisional record by a final one. False means that there is none.
func (t *Tx) FinalizeRecord(key IdempotencyKey, record *IdempotencyRecord) (revised bool, err error) {
	header, err := json.Marshal(record.Header)
	if err != nil {
		return false, t.fault(err)
	}
	changed, err := t.conn.Exec("UPDATE "+db.IdempotencyTable+" SET status = $1, header = $2, body = $3, until = '' WHERE caller = $4 AND key = $5 AND until <> ''",
		model.IntValue(int64(record.Status)), model.TextValue(string(header)), model.TextValue(string(record.Body)),
		model.TextValue(key.Caller), model.TextValue(key.Value))
	return changed == 1, t.fault(err)
}

// DeleteOldRecords removes records older than age.
func (s *Store) DeleteOldRecords(ctx context.Context, age time.Duration) error {
	before := model.TimeValue(model.FormatTime(s.now().Add(-age)))
	return s.deleteInBatches(ctx, func(t *Tx) (removed int, err error) {
		return t.conn.Exec("DELETE FROM "+db.IdempotencyTable+" WHERE (caller, key) IN (SELECT caller, key FROM "+db.IdempotencyTable+
			" WHERE at < $1 ORDER BY at LIMIT $2)", before, model.IntValue(deleteBatch))
	})
}
