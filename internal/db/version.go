package db

import (
	"github.com/plural-go/plural/internal/model"
)

// Version identifies the schema of a database. The time distinguishes equal numbers, after a restore
// of a backup.
type Version struct {
	Number int64
	at     string
}

// SelectVersion reads the version in force, for ScanVersion.
const SelectVersion = "SELECT version, at FROM " + SchemasTable + " ORDER BY version DESC LIMIT 1"

// ScanVersion reads a row of SelectVersion.
func ScanVersion(row model.Row) Version { return Version{row.Int(0), row.Text(1)} }

// Is compares the version with a row of SelectVersion, without making texts of it: every read does so.
func (v Version) Is(number int64, at []byte) bool { return v.Number == number && v.at == string(at) }

// ReadVersion reads the version of the schema in force.
func ReadVersion(c Conn) (v Version, err error) {
	_, err = One(c, func(row model.Row) { v = ScanVersion(row) }, SelectVersion)
	return v, err
}
