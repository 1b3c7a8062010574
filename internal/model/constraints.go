package model

import (
	"math/big"
	"regexp"
)

// Constraints is the constraints of an attribute, in the form by which values are checked.
type Constraints struct {
	Kind    Kind
	Pattern *regexp.Regexp
	Enum    []Value // empty: any value
	Default Value   // or Null

	// Integers and decimals: the bounds, exclusive ones included, as the first and
	// the last integer that is valid. Those of decimals are in their smallest units.
	MinInt, MaxInt int64

	// Numbers: the tightest bounds, and whether the bound itself is excluded.
	Min, Max         float64
	MinOpen, MaxOpen bool

	Multiple *big.Rat // nil: none
}

// Constraints is for package compile, which sets them.
func (a *Attribute) Constraints() *Constraints { return &a.compiled }
