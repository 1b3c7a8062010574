package schema

import (
	"reflect"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// Update is the flag of the golden files.
var Update = update

// DeclareFields declares a collection by the fields of a struct type without a name.
func DeclareFields(name string, t reflect.Type) (*model.Schema, error) {
	c := model.Collection{Name: name, NoTimestamps: true}
	fields, err := fieldsOf(t, nil)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		if err := addField(&c, field); err != nil {
			return nil, err
		}
	}
	return compile.Versioned(model.Versions{Newest: 3}, c)
}
