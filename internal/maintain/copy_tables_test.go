package maintain

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestChecksumsTellRowsApart: no two tables that differ have one checksum.
func TestChecksumsTellRowsApart(t *testing.T) {
	text, null := schema.TextValue, schema.Null
	seen := map[string]int{}
	for i, rows := range [][]schema.Record{
		{}, {{null}}, {{null, null}}, {{null}, {null}}, {{text("")}}, {{null, text("")}}, {{text(""), null}}, {{text("ab"), text("c")}}, {{text("a"), text("bc")}},
		{{text("a")}, {text("b")}}, {{text("b")}, {text("a")}}, {{text("a"), text("b")}}, {{schema.IntValue(0)}}, {{schema.IntValue(1)}}, {{schema.FloatValue(0)}}, {{schema.BoolValue(false)}},
		{{schema.BoolValue(true)}}, {{schema.TimeValue("")}}, {{schema.IDValue(schema.ID{})}}, {{text(string(make([]byte, 16)))}},
	} {
		sum := newChecksum()
		for _, row := range rows {
			sum.add(row)
		}
		if before, ok := seen[sum.String()]; ok {
			t.Errorf("%d and %d have the same checksum", before, i)
		}
		seen[sum.String()] = i
	}
}
