package rules

// Concerns reports whether checks or computed attributes may depend on a change of a column.
func (s *Set) Concerns(column int) bool { return s.Reads().Has(column) }
