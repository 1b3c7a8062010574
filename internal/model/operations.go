package model

// OperationsName is the collection that every schema has beside those that are
// declared: writes that were accepted to be done later.
const OperationsName = "operations"

// operations declares it. Its resources are written by the server alone.
func operations() *Collection {
	text := func(name, description string, values ...any) Attribute {
		return Attribute{Name: name, Type: String, MaxLength: 16, Required: true, Enum: values, Description: description}
	}
	declared := []Collection{{
		Name: OperationsName, Singular: "operation", Description: "Writes that were accepted to be done later.",
		Attributes: []Attribute{
			text("status", "How far it has come.", "pending", "running", "succeeded", "failed"),
			text("method", "The method of the request.", "POST", "PUT", "PATCH", "DELETE"),
			{Name: "resource", Type: Object, Required: true, Closed: true, Description: "The resource that it is about.", Properties: []Attribute{
				{Name: "id", Type: String, Format: UUID, Required: true}, {Name: "type", Type: String, Required: true},
			}},
			{Name: "errors", Type: Array, Description: "Why it failed: the errors that the request would have been answered with."},
			{Name: "attempts", Type: Integer, Required: true, Minimum: "0", Description: "How often it was tried."},
		},
		Index: [][]string{{"status"}},
	}}
	k := Checker{declared: declared}
	k.attributes(&declared[0], Path{OperationsName})
	if len(k.Problems) > 0 {
		panic(k.Problems)
	}
	declared[0].layout.builtIn = true
	return &declared[0]
}

// Operations is the collection of operations.
func (s *Schema) Operations() *Collection { return s.operations }

// All lists all collections: those that are declared, and the operations.
func (s *Schema) All() []*Collection {
	return append(s.collections[:len(s.collections):len(s.collections)], s.operations)
}

// ReadOnly reports whether clients can read the collection only.
func (c *Collection) ReadOnly() bool { return c.builtIn }
