package statement

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// columnSource is what the columns of a part of a condition are.
type columnSource struct {
	table   *Table   // nil: the only column is a value inside another
	columns []string // as SQL
}

// column is a column of the current source as SQL.
func (s *Statement) column(column int) string {
	if s.within != nil {
		return s.within.columns[column]
	}
	return s.table.Columns[column]
}

// source is the table of the current source; nil: it is a value inside another.
func (s *Statement) source() *Table {
	if s.within != nil {
		return s.within.table
	}
	return s.table
}

// qualified is the same where columns of other tables may have its name.
func (s *Statement) qualified(column int) string {
	if s.within != nil {
		return s.within.columns[column]
	}
	return s.table.Name + "." + s.table.Columns[column]
}

// in writes a part of a condition on another source.
func (s *Statement) in(inner *columnSource, write func()) {
	outer := s.within
	s.within = inner
	write()
	s.within = outer
}

// has writes a condition on the items of an array. There are none if the column is null.
func (s *Statement) has(f query.Has, holds bool) {
	column := s.qualified(f.Column)
	search := db.ItemSearch{Column: column, Kind: f.Kind, Values: f.Values, All: f.All, Arg: s.Placeholder}
	if table := s.source(); table != nil && table.items[f.Column] != "" {
		search.Index, search.ID = table.items[f.Column], s.qualified(model.IDColumn)
	}
	condition := s.dialect.HasItems(search)
	if holds {
		s.Write(condition)
		return
	}
	s.Write("(NOT (", condition, ") OR ", column, " IS NULL)")
}
