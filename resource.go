package plural

import (
	"encoding/json"
	"fmt"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// Resource is one resource in memory, by the names of its attributes.
type Resource struct {
	collection *model.Collection
	record     model.Record
	set        []bool // nil: everything is set
	stored     bool   // and cannot be changed here
	etag       string
}

// stored marks a resource, if not nil, as stored.
func stored(r *Resource) *Resource {
	if r != nil {
		r.stored = true
	}
	return r
}

func newResource(c *model.Collection, record model.Record, set []bool) *Resource {
	if record == nil {
		return nil
	}
	return &Resource{collection: c, record: record, set: set}
}

// ID is the id, or empty if it has none yet.
func (r *Resource) ID() string {
	if r.record.Null(model.IDColumn) {
		return ""
	}
	return r.record.ID(model.IDColumn).String()
}

// ETag identifies the state of a resource that was read or written through Tx: see IfMatch. It
// is empty for any other.
func (r *Resource) ETag() string { return r.etag }

// Has reports whether a field is set: in Hook.Before a change has only what the
// request sets, elsewhere a resource has all fields of its collection.
func (r *Resource) Has(name string) bool {
	field := r.collection.Field(name)
	return field != nil && (r.set == nil || field.Column != model.NoColumn && r.set[field.Column])
}

// Get is the value of a field: nil, string, int64, float64, bool, or
// json.RawMessage for an object or array. It is nil for a name that is no field.
func (r *Resource) Get(name string) any {
	field := r.collection.Field(name)
	switch {
	case field == nil:
		return nil
	case field.Column == model.NoColumn:
		return r.collection.Name
	case r.record.Null(field.Column):
		return nil
	}
	value := r.record[field.Column]
	if field.Kind.IsDecimal() {
		return field.Kind.DecimalText(value)
	}
	switch field.Kind {
	case model.KindBoolean:
		return value.Bool()
	case model.KindInteger:
		return value.Int()
	case model.KindNumber:
		return value.Float()
	case model.KindUUID:
		return value.ID().String()
	case model.KindJSON:
		return json.RawMessage(value.Text())
	default:
		return value.Text()
	}
}

// Set sets an attribute of Change.After before it is written, unless it is computed. A value that violates the schema
// is an error that a hook can return: the client gets it with the pointer of the attribute.
func (r *Resource) Set(name string, value any) error {
	if r.stored {
		return fmt.Errorf("%s/%s is stored, so Set has no effect: use Update of the transaction", r.collection.Name, r.ID())
	}
	field := r.collection.Field(name)
	if field == nil || field.Column == model.NoColumn || r.collection.Columns()[field.Column].Attribute == nil {
		return fmt.Errorf("%s has no attribute %q", r.collection.Name, name)
	}
	if r.collection.Columns()[field.Column].Attribute.IsComputed() {
		return fmt.Errorf("%s of %s is computed by the server, and cannot be set", name, r.collection.Name)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	decoded, err := r.collection.Columns()[field.Column].Attribute.DecodeJSON(text)
	if err != nil {
		faults := fault.From(err)
		faults[0].Source.Pointer = "/" + name + faults[0].Source.Pointer // there is one
		return faults
	}
	r.record[field.Column] = decoded
	if r.set != nil {
		r.set[field.Column] = true
	}
	return nil
}

// MarshalJSON is the representation of the resource, as a client gets it.
func (r *Resource) MarshalJSON() ([]byte, error) {
	if r.record.Null(model.IDColumn) {
		return nil, fmt.Errorf("a resource of %s that has no id yet has no representation", r.collection.Name)
	}
	return r.collection.AppendSome(nil, r.record, r.collection.Shows()), nil
}

// Decode reads the resource into a struct by its json tags.
func (r *Resource) Decode(into any) error {
	text, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
