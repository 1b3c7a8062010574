package changelog

import (
	"errors"
	"fmt"

	"github.com/plural-go/plural/internal/model"
)

// unreadableEntry is an entry of the change log that is damaged, or that a later version of Plural
// has written. It concerns one resource: what else is in the log can be read.
type unreadableEntry struct {
	collection string
	id         model.ID
	revision   int64
	cause      error
}

func (e *unreadableEntry) Error() string {
	return fmt.Sprintf("the change log of %s cannot be read: revision %d of %s: %v", e.collection, e.revision, e.id, e.cause)
}

func (e *unreadableEntry) Unwrap() error { return e.cause }

var (
	errEmpty = errors.New("the former values are missing")
	errNoEnd = errors.New("the resource does not exist, and its deletion is missing")
)

func errKind(kind Kind) error {
	return fmt.Errorf("it is %q, which this version of Plural does not expect here", kind)
}

// IsUnreadable reports whether an error is that of an entry of the change log that cannot be read.
func IsUnreadable(err error) bool {
	damage := (*unreadableEntry)(nil)
	return errors.As(err, &damage)
}

// unreadable says which entry cannot be read. It is nil if the cause is.
func (l *table) unreadable(id model.ID, revision int64, cause error) error {
	if cause == nil {
		return nil
	}
	return &unreadableEntry{l.collection.Name, id, revision, cause}
}
