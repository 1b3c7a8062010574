package rules

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// What migrations and the history of resources need of the rules that depend on the resource alone, without auth, now and previous.
// They evaluate them for resources that are stored, whoever wrote them.

// Derives reports whether a column is computed from the resource alone.
func (s *Set) Derives(column int) bool { return false }

// InputsOf lists the columns that a computed one is made of, directly or through others that are computed.
func (s *Set) InputsOf(column int) []int { return nil }

// Fill computes some of the columns that are derived, those with when: create as well.
func (s *Set) Fill(record model.Record, some model.ColumnSet) problem.Errors { return nil }

// ChecksStored reports whether a check of the collection, by its index, depends on the resource alone.
func (s *Set) ChecksStored(check int) bool { return false }

// CheckedBy lists the columns that a check reads, directly or through those that are computed.
func (s *Set) CheckedBy(check int) []int { return nil }

// Holds evaluates one check for a resource. Nil: it holds.
func (s *Set) Holds(check int, record model.Record) *problem.Error { return nil }

// ComputedOnce lists the computed attributes that depend on more than the resource: their values cannot be computed again.
func (s *Set) ComputedOnce() []string { return nil }
