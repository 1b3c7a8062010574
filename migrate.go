package plural

import (
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/store"
)

// MigrateMode is what Open does with a database that has another schema.
type MigrateMode string

// The modes. In each, a database that still does not fit is refused.
const (
	// MigrateAdditive applies steps that leave all stored values unchanged: new collections, new
	// attributes that are optional or have a default and are not unique, new indexes, fewer restrictions.
	MigrateAdditive MigrateMode = "additive"
	// MigrateOff applies none.
	MigrateOff MigrateMode = "off"
)

func storeOptions(config Config, observer *observe.Observer) []store.Option {
	options := []store.Option{store.ListenAt(config.DatabaseDirect), store.Tracer(config.innerTracer())}
	if config.Migrate == MigrateOff {
		return options
	}
	return append(options, store.MigrateAdditive(func(step *migrate.Step) { observer.Migrated(step.Text, step.Cost) }))
}
