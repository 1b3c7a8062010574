package admin

import (
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// TestChecksumsTellRowsApart: no two tables that differ have one checksum.
func TestChecksumsTellRowsApart(t *testing.T) {
	text, null := model.TextValue, model.Null
	seen := map[string]int{}
	for i, rows := range [][]model.Record{
		{}, {{null}}, {{null, null}}, {{null}, {null}}, {{text("")}}, {{null, text("")}}, {{text(""), null}}, {{text("ab"), text("c")}}, {{text("a"), text("bc")}},
		{{text("a")}, {text("b")}}, {{text("b")}, {text("a")}}, {{text("a"), text("b")}}, {{model.IntValue(0)}}, {{model.IntValue(1)}}, {{model.FloatValue(0)}}, {{model.BoolValue(false)}},
		{{model.BoolValue(true)}}, {{model.TimeValue("")}}, {{model.IDValue(model.ID{})}}, {{text(string(make([]byte, 16)))}},
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
