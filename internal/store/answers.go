package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// AnswerKey is the key that a caller gave to a request. Callers do not see each
// other's.
type AnswerKey struct{ Caller, Key string }

// Answer is what a request was answered with, to be given again.
type Answer struct {
	Fingerprint string // of the request
	Status      int
	Header      map[string]string
	Body        []byte

	// Until is how long it may still become another answer, in the form of
	// model.FormatTime; empty when it is final.
	Until string
}

// Answer finds the answer that is kept under a key, or nil.
func (t *Tx) Answer(key AnswerKey) (answer *Answer, err error) {
	var header []byte
	_, err = one(t.conn, func(row model.Row) {
		answer = &Answer{Fingerprint: string(row.AppendText(nil, 0)), Status: int(row.Int(1)), Body: row.AppendText(nil, 3), Until: string(row.AppendText(nil, 4))}
		header = row.AppendText(nil, 2)
	}, "SELECT fingerprint, status, header, body, until FROM "+answersTable+" WHERE caller = $1 AND key = $2",
		model.TextValue(key.Caller), model.TextValue(key.Key))
	if err == nil && answer != nil {
		err = json.Unmarshal(header, &answer.Header)
	}
	return answer, t.fault(err)
}

// Hold makes sure that nobody else works under a key until the transaction ends. Held
// is set by the next query; where only one server works on the database, that has to
// see to it itself.
func (k AnswerKey) hold(t *Tx, held *bool) error {
	*held = true
	sql := t.store.backend.tryLock()
	if sql == "" {
		return nil
	}
	*held = false
	return t.fault(t.conn.later(func(row model.Row) { *held = row.Bool(0) }, sql, model.TextValue(k.Caller+"\x1f"+k.Key)))
}

// Claim finds the answer that is kept under a key, or nil, and keeps all others from
// working under it until the transaction ends. False means that somebody does.
func (t *Tx) ClaimAnswer(key AnswerKey) (answer *Answer, claimed bool, err error) {
	if err := key.hold(t, &claimed); err != nil {
		return nil, false, err
	}
	answer, err = t.Answer(key)
	return answer, claimed, err
}

// KeepAnswer keeps an answer under a key, in place of what was kept there.
func (t *Tx) KeepAnswer(key AnswerKey, answer *Answer) error {
	header, err := json.Marshal(answer.Header)
	if err == nil {
		_, err = t.conn.exec("INSERT INTO "+answersTable+" (caller, key, fingerprint, status, header, body, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"+
			" ON CONFLICT (caller, key) DO UPDATE SET status = excluded.status, header = excluded.header, body = excluded.body, until = excluded.until",
			model.TextValue(key.Caller), model.TextValue(key.Key), model.TextValue(answer.Fingerprint), model.IntValue(int64(answer.Status)),
			model.TextValue(string(header)), model.TextValue(string(answer.Body)), t.at, model.TextValue(answer.Until))
	}
	return t.fault(err)
}

// ReviseAnswer makes an answer under a key final, in place of one that is not yet. False
// means that there is none.
func (t *Tx) ReviseAnswer(key AnswerKey, answer *Answer) (revised bool, err error) {
	header, err := json.Marshal(answer.Header)
	if err != nil {
		return false, t.fault(err)
	}
	changed, err := t.conn.exec("UPDATE "+answersTable+" SET status = $1, header = $2, body = $3, until = '' WHERE caller = $4 AND key = $5 AND until <> ''",
		model.IntValue(int64(answer.Status)), model.TextValue(string(header)), model.TextValue(string(answer.Body)),
		model.TextValue(key.Caller), model.TextValue(key.Key))
	return changed == 1, t.fault(err)
}

// ForgetAnswers removes the answers that are older than an age.
func (s *Store) ForgetAnswers(ctx context.Context, age time.Duration) error {
	return s.forget(ctx, answersTable, "caller, key", age)
}

// forgetBatch bounds how long a clean-up keeps other writers waiting.
const forgetBatch = 1000

// forget removes the rows of a table of ours that are older than an age.
func (s *Store) forget(ctx context.Context, table, key string, age time.Duration) error {
	before := model.TimeValue(model.FormatTime(s.now().Add(-age)))
	for {
		var removed int
		err := s.Write(ctx, func(t *Tx) (err error) {
			removed, err = t.conn.exec("DELETE FROM "+table+" WHERE ("+key+") IN (SELECT "+key+" FROM "+table+
				" WHERE at < $1 ORDER BY at LIMIT $2)", before, model.IntValue(forgetBatch))
			return err
		})
		if err != nil || removed < forgetBatch {
			return err
		}
	}
}
