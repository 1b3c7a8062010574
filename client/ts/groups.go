package ts

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// groups writes what a collection can be grouped by, and what can be computed of its groups.
func (g *generator) groups(f family) {
	members := map[string][]string{}
	add := func(in, name, value string) {
		members[in] = append(members[in], typed(name, "", value))
	}
	field := func(name string, kind model.Kind, value, null string) {
		add("by", name, value+null)
		for _, unit := range query.Units(kind) {
			add("by", name+":"+string(unit), "string"+null)
		}
		for _, function := range query.Functions {
			if !function.AppliesTo(kind) {
				continue
			}
			result, absent := value, " | null"
			switch function {
			case query.Avg:
				result = "number"
			case query.Distinct:
				result, absent = "number", ""
			case query.Sum:
				absent = ""
				if kind == model.KindInteger || kind == model.KindNumber {
					result = "number" // a sum is none of an enum
				}
				if value == "bigint" {
					result = "bigint"
				}
				if kind.IsDecimal() {
					result = "string"
				}
			}
			add(string(function), name, result+absent)
		}
	}
	field("id", model.KindUUID, "string", "")
	for i := range f.Attributes {
		a := &f.Attributes[i]
		if !f.maySee(a.Name) || a.Type == model.Object || a.Type == model.Array {
			continue
		}
		null := " | null"
		if a.Required {
			null = ""
		}
		field(a.Name, f.Field(a.Name).Kind, g.typeIn(f, a), null)
	}
	if f.timestamps() {
		field("created_at", model.KindDateTime, "string", "")
		field("updated_at", model.KindDateTime, "string", "")
	}
	g.line("\n/** What %s can be grouped by, and what can be computed of groups. */\nexport interface %sGroups extends GroupFields {", f.Name, f.name)
	for _, name := range []string{"by", "sum", "avg", "min", "max", "distinct"} {
		g.line("  %s: %s;", name, braced(members[name]))
	}
	g.line("}")
}
