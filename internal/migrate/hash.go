package migrate

import (
	"encoding/binary"
	"hash"
	"math"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// hashBinder writes values into a hash, each with its length, so that no two
// lists of values look the same.
type hashBinder struct{ hash hash.Hash }

func (b hashBinder) BindNull() { b.BindText("") }

func (b hashBinder) BindBool(v bool) { b.BindInt(map[bool]int64{true: 1}[v]) }

func (b hashBinder) BindInt(v int64) {
	b.hash.Write(binary.BigEndian.AppendUint64(nil, db.BitsOf(v)))
}

func (b hashBinder) BindFloat(v float64) { b.BindInt(db.FromBits(math.Float64bits(v))) }

func (b hashBinder) BindID(v model.ID) { b.hash.Write(v[:]) }

func (b hashBinder) BindTime(v string) { b.BindText(v) }

func (b hashBinder) BindText(v string) {
	b.BindInt(int64(len(v)))
	b.hash.Write([]byte(v))
}
