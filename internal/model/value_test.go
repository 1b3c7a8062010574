package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/plural-go/plural/internal/format"
)

// ascending is one value of each kind after the other, in their order.
var ascending = map[Kind][]Value{
	KindText: {Null, TextValue(""), TextValue("A"), TextValue("B"), TextValue("a"), TextValue("ab"), TextValue("e\u0301"), TextValue("z"),
		TextValue("é"), TextValue("\ue000"), TextValue("\uffff"), TextValue("\U0001d11e"), TextValue("\U0010ffff")},
	KindInteger: {Null, IntValue(math.MinInt64), IntValue(-1), IntValue(0), IntValue(1), IntValue(1 << 53), IntValue(1<<53 + 1), IntValue(math.MaxInt64)},
	KindNumber: {Null, FloatValue(-math.MaxFloat64), FloatValue(-1), FloatValue(-math.SmallestNonzeroFloat64), FloatValue(0),
		FloatValue(math.SmallestNonzeroFloat64), FloatValue(0.1), FloatValue(math.MaxFloat64)},
	KindBoolean:  {Null, BoolValue(false), BoolValue(true)},
	KindUUID:     {Null, IDValue(ID{}), IDValue(ID{15: 1}), IDValue(ID{0x7f}), IDValue(ID{0x80}), IDValue(ID{0xff})},
	KindDate:     {Null, TextValue("0001-01-01"), TextValue("2024-02-29"), TextValue("9999-12-31")},
	KindDateTime: {Null, TimeValue("0000-01-01T00:00:00.000Z"), TimeValue("2026-11-14T09:30:00.123Z"), TimeValue("2026-11-14T09:30:00.124Z")},
}

func TestCompareIsAnOrder(t *testing.T) {
	for kind, values := range ascending {
		for i, a := range values {
			for j, b := range values {
				want := 0
				switch {
				case i < j:
					want = -1
				case i > j:
					want = 1
				}
				if got := Compare(a, b); got != want {
					t.Errorf("kind %d: Compare(%v, %v) = %d, want %d", kind, a, b, got, want)
				}
				if (a == b) != (want == 0) {
					t.Errorf("kind %d: %v == %v is not what Compare says", kind, a, b)
				}
			}
		}
	}
}

func TestNegativeZeroIsZero(t *testing.T) {
	negative := math.Copysign(0, -1)
	if got := FloatValue(negative); got != FloatValue(0) || math.Signbit(got.Float()) {
		t.Errorf("-0 is %v", got)
	}
	if got := string(format.AppendFloat(nil, negative)); got != "0" {
		t.Errorf("-0 is written %s", got)
	}
}

func TestReadValueOfARow(t *testing.T) {
	for kind, values := range ascending {
		for _, want := range values {
			if got := kind.Read(Record{Null, want}, 1); got != want {
				t.Errorf("kind %d: got %v, want %v", kind, got, want)
			}
		}
	}
}

// calls notes what a value binds itself as.
type calls []string

func (c *calls) BindNull()           { *c = append(*c, "null") }
func (c *calls) BindBool(v bool)     { *c = append(*c, fmt.Sprint("bool ", v)) }
func (c *calls) BindInt(v int64)     { *c = append(*c, fmt.Sprint("int ", v)) }
func (c *calls) BindFloat(v float64) { *c = append(*c, fmt.Sprint("float ", v)) }
func (c *calls) BindID(v ID)         { *c = append(*c, "id "+v.String()) }
func (c *calls) BindTime(v string)   { *c = append(*c, "time "+v) }
func (c *calls) BindText(v string)   { *c = append(*c, "text "+v) }

func TestBindCallsTheMethodOfTheKind(t *testing.T) {
	var got calls
	for _, value := range []Value{Null, BoolValue(true), IntValue(-1), FloatValue(0.5), IDValue(ID{1}), TimeValue("2026-11-14T09:30:00.123Z"), TextValue("x")} {
		value.Bind(&got)
	}
	want := "[null bool true int -1 float 0.5 id 01000000-0000-0000-0000-000000000000 time 2026-11-14T09:30:00.123Z text x]"
	if fmt.Sprint([]string(got)) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}
