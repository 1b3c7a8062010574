package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// addVersion declares the flag of a version of the interface.
func addVersion(flags *pflag.FlagSet, version *int) {
	flags.Var(count(version, 1), "api-version", "version of the interface (default the newest, or that of the API key)")
}

// inVersion is the schema of a version: that of the schema file, which knows only its own, or one that the database remembers.
func (s *settings) inVersion(ctx context.Context, number int) (*schema.Schema, error) {
	newest := (*model.Schema)(s.config.Schema).Versions().Newest
	switch number {
	case 0, newest:
		return s.config.Schema, nil
	}
	if newest == 0 {
		return nil, errors.New("the schema file states no version: leave out --api-version")
	}
	database, _, err := databaseFor(s.config.Database, toRead)
	if err == nil {
		var found *schema.Schema
		if found, err = admin.VersionSchema(ctx, database, number); err == nil {
			return found, nil
		}
	}
	return nil, fmt.Errorf("the schema file knows only version %d, and the --database is asked for others: %w", newest, err)
}
