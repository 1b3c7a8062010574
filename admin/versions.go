package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/keys"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
	"github.com/plural-go/plural/schema"
)

// Version is a version of the interface that a database remembers.
type Version struct {
	Number int       `json:"version"`
	Since  time.Time `json:"since"` // when a schema with the number was first stored
	Newest bool      `json:"newest"`
	Sunset string    `json:"sunset,omitempty"` // the date that the schema gives a deprecated version; empty: it is not deprecated

	Ended []string `json:"ended,omitempty"` // why requests of the version are refused; empty: they are served
	Ends  []string `json:"ends,omitempty"`  // why they would be refused with another schema: see Versions

	Keys []VersionKey `json:"keys,omitempty"` // valid API keys that are pinned to the version, the oldest first
	Uses []VersionUse `json:"uses,omitempty"` // the last use by each caller, the latest first; those of the newest version are not recorded
}

// VersionKey is an API key that is pinned to a version.
type VersionKey struct {
	Prefix string `json:"prefix"`
	Name   string `json:"name"`
}

// VersionUse is when a caller last used a version.
type VersionUse struct {
	Caller string    `json:"caller"`        // such as key:k3x9w2m5qa; empty: without credentials
	Key    string    `json:"key,omitempty"` // the name of the API key
	At     time.Time `json:"at"`
}

// Versions lists the versions of the interface that a database remembers, the newest last. With a schema that is not nil, it says
// which of them would end if the database were migrated to it.
func Versions(ctx context.Context, database string, to *schema.Schema) ([]Version, error) {
	var all []Version
	err := databases.Read(ctx, database, func(b db.Database, c db.Conn) error {
		newest, known, err := readVersions(b, c)
		if err != nil {
			return err
		}
		var ending map[int][]versions.Reason
		if to != nil {
			if ending, err = migrate.Ends(c, b, (*model.Schema)(to)); err != nil {
				return err
			}
		}
		declared := newest.Versions()
		all = make([]Version, len(known))
		for i, v := range known {
			all[i] = Version{
				Number: v.Number, Since: timeOf(v.Since), Newest: v.Number == declared.Newest, Sunset: declared.Deprecated[v.Number],
				Ended: sentences(v.Ended), Ends: sentences(ending[v.Number]),
			}
		}
		return addClients(c, all)
	})
	return all, err
}

// VersionSchema is the schema of a version of the interface that a database serves: what it stores, under the names of the version. It is
// for generators of clients and documents, not for a server.
func VersionSchema(ctx context.Context, database string, number int) (*schema.Schema, error) {
	var found *schema.Schema
	err := databases.Read(ctx, database, func(b db.Database, c db.Conn) error {
		_, known, err := readVersions(b, c)
		if err != nil {
			return err
		}
		for _, v := range known {
			if v.Number == number && v.Schema == nil {
				return fmt.Errorf("version %d has ended: %s", number, strings.Join(sentences(v.Ended), "; "))
			}
		}
		s, served := servedVersion(known, number)
		switch {
		case s != nil:
			found = (*schema.Schema)(s)
			return nil
		case served == "":
			return errors.New("the schema of the database has no versions")
		}
		return fmt.Errorf("the database has no version %d: it has %s", number, served)
	})
	return found, err
}

// servedVersion finds the schema of a version that is served, nil if there is none, and lists the numbers of all that are served.
func servedVersion(known []versions.Version, number int) (found *model.Schema, served string) {
	var numbers []string
	for _, v := range known {
		if v.Schema == nil {
			continue
		}
		if v.Number == number {
			found = v.Schema
		}
		numbers = append(numbers, strconv.Itoa(v.Number))
	}
	return found, strings.Join(numbers, ", ")
}

// readVersions reads the newest schema that servers have, and the versions of its interface.
func readVersions(b db.Database, c db.Conn) (newest *model.Schema, known []versions.Version, err error) {
	if _, err := catalog.Require(c, b); err != nil {
		return nil, nil, err
	}
	state, err := catalog.ReadState(c)
	if err != nil {
		return nil, nil, err
	}
	newest, numbers := state.Newest()
	known, err = versions.Read(c, newest, numbers)
	return newest, known, err
}

func sentences(reasons []versions.Reason) (texts []string) {
	for _, reason := range reasons {
		texts = append(texts, reason.String())
	}
	return texts
}

// addClients adds the keys and the uses of versions.
func addClients(c db.Conn, all []Version) error {
	stored, err := keys.All(c)
	if err != nil {
		return err
	}
	find := func(number int) *Version {
		if i := slices.IndexFunc(all, func(v Version) bool { return v.Number == number }); i >= 0 {
			return &all[i]
		}
		return &Version{} // of a key that is pinned to none
	}
	names, now := map[string]string{}, model.FormatTime(time.Now())
	for _, key := range stored {
		names[auth.KeyCaller+key.Prefix] = key.Name
		if v := find(key.Version); key.Revoked == "" && (key.Expires == "" || key.Expires > now) {
			v.Keys = append(v.Keys, VersionKey{key.Prefix, key.Name})
		}
	}
	uses, err := versions.Uses(c)
	for _, use := range uses {
		v := find(use.Version)
		v.Uses = append(v.Uses, VersionUse{use.Caller, names[use.Caller], timeOf(use.At)})
	}
	return err
}
