package versions

import (
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Use is when a caller last used a version that was not the newest.
type Use struct {
	Version int
	Caller  string // empty: without credentials, or there is no access control
	At      string // as model.FormatTime writes it
}

// keepUses is for how long uses are kept. Callers with tokens are many, and most do not come back.
const keepUses = 365 * 24 * time.Hour

// StoreUses stores uses, unless later ones are stored, and removes those that are old at a time.
func StoreUses(c db.Conn, uses []Use, now time.Time) error {
	if _, err := c.Exec("DELETE FROM "+db.UsesTable+" WHERE at < $1", model.TimeValue(model.FormatTime(now.Add(-keepUses)))); err != nil {
		return err
	}
	for _, use := range uses {
		_, err := c.Exec("INSERT INTO "+db.UsesTable+" (version, caller, at) VALUES ($1, $2, $3) ON CONFLICT (version, caller) DO UPDATE SET at = excluded.at WHERE "+
			db.UsesTable+".at < excluded.at", model.IntValue(int64(use.Version)), model.TextValue(use.Caller), model.TimeValue(use.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// Uses lists the uses, the latest first.
func Uses(c db.Conn) ([]Use, error) {
	return db.All(c, func(row model.Row) Use {
		return Use{Version: int(row.Int(0)), Caller: row.Text(1), At: row.Text(2)}
	}, "SELECT version, caller, at FROM "+db.UsesTable+" ORDER BY at DESC, version, caller")
}
