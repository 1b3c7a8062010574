package model

// OperationsName is the collection that every schema has in addition to those that are
// declared: writes that were accepted to be done later.
const OperationsName = "operations"

// Operations is the collection of operations.
func (s *Schema) Operations() *Collection { return s.operations }

// All lists all collections: those that are declared, and the operations.
func (s *Schema) All() []*Collection {
	return append(s.collections[:len(s.collections):len(s.collections)], s.operations)
}

// ReadOnly reports whether clients can read the collection only.
func (c *Collection) ReadOnly() bool { return c.builtIn }
