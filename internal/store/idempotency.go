package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/schema"
)

// IdempotencyKey is the key that a caller gave to a request. Callers do not see each
// other's.
type IdempotencyKey struct{ Caller, Key string }

// IdempotencyRecord is what a request was answered with, to be given again.
type IdempotencyRecord struct {
	Fingerprint string // of the request
	Status      int
	Header      map[string]string
	Body        []byte

	// Until is how long it may still become another answer, in the form of
	// schema.FormatTime; empty when it is final.
	Until string
}

// Record finds the answer that is kept under a key, or nil.
func (t *Tx) Record(key IdempotencyKey) (*IdempotencyRecord, error) {
	answer, _, err := t.findRecord("1", key)
	return answer, err
}

// ClaimRecord finds the answer that is kept under a key, or nil, and keeps all others from
// working under it until the transaction ends. False means that somebody does.
func (t *Tx) ClaimRecord(key IdempotencyKey) (answer *IdempotencyRecord, claimed bool, err error) {
	return t.findRecord(t.store.db.TryLock("$1", "$2"), key)
}

// findRecord finds an answer, and whether a condition holds.
func (t *Tx) findRecord(condition string, key IdempotencyKey) (answer *IdempotencyRecord, holds bool, err error) {
	var header []byte
	_, err = db.One(t.conn, func(row schema.Row) {
		if holds = row.Int(0) == 1; row.Null(1) {
			return
		}
		answer = &IdempotencyRecord{Fingerprint: string(row.AppendText(nil, 1)), Status: int(row.Int(2)), Body: row.AppendText(nil, 4), Until: string(row.AppendText(nil, 5))}
		header = row.AppendText(nil, 3)
	}, "SELECT CAST(c.holds AS integer), a.fingerprint, a.status, a.header, a.body, a.until FROM (SELECT "+condition+" AS holds) AS c"+
		" LEFT JOIN "+db.RecordsTable+" AS a ON a.caller = $1 AND a.key = $2",
		schema.TextValue(key.Caller), schema.TextValue(key.Key))
	if err == nil && answer != nil {
		err = json.Unmarshal(header, &answer.Header)
	}
	return answer, holds, t.fault(err)
}

// KeepRecord keeps an answer under a key, in place of what was kept there.
func (t *Tx) KeepRecord(key IdempotencyKey, answer *IdempotencyRecord) error {
	header, err := json.Marshal(answer.Header)
	if err == nil {
		_, err = t.conn.Exec("INSERT INTO "+db.RecordsTable+" (caller, key, fingerprint, status, header, body, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"+
			" ON CONFLICT (caller, key) DO UPDATE SET status = excluded.status, header = excluded.header, body = excluded.body, until = excluded.until",
			schema.TextValue(key.Caller), schema.TextValue(key.Key), schema.TextValue(answer.Fingerprint), schema.IntValue(int64(answer.Status)),
			schema.TextValue(string(header)), schema.TextValue(string(answer.Body)), t.at, schema.TextValue(answer.Until))
	}
	return t.fault(err)
}

// ReviseRecord makes an answer under a key final, in place of one that is not yet. False
// means that there is none.
func (t *Tx) ReviseRecord(key IdempotencyKey, answer *IdempotencyRecord) (revised bool, err error) {
	header, err := json.Marshal(answer.Header)
	if err != nil {
		return false, t.fault(err)
	}
	changed, err := t.conn.Exec("UPDATE "+db.RecordsTable+" SET status = $1, header = $2, body = $3, until = '' WHERE caller = $4 AND key = $5 AND until <> ''",
		schema.IntValue(int64(answer.Status)), schema.TextValue(string(header)), schema.TextValue(string(answer.Body)),
		schema.TextValue(key.Caller), schema.TextValue(key.Key))
	return changed == 1, t.fault(err)
}

// ForgetRecords removes the answers that are older than an age.
func (s *Store) ForgetRecords(ctx context.Context, age time.Duration) error {
	return s.forget(ctx, db.RecordsTable, "caller, key", age)
}

// forgetBatch bounds how long a clean-up keeps other writers waiting.
const forgetBatch = 1000

// forget removes the rows of a table of ours that are older than an age.
func (s *Store) forget(ctx context.Context, table, key string, age time.Duration) error {
	before := schema.TimeValue(schema.FormatTime(s.now().Add(-age)))
	for {
		var removed int
		err := s.Write(ctx, func(t *Tx) (err error) {
			removed, err = t.conn.Exec("DELETE FROM "+table+" WHERE ("+key+") IN (SELECT "+key+" FROM "+table+
				" WHERE at < $1 ORDER BY at LIMIT $2)", before, schema.IntValue(forgetBatch))
			return err
		})
		if err != nil || removed < forgetBatch {
			return err
		}
	}
}
