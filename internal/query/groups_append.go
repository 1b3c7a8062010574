package query

import (
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// members are the members of every group, and those that it can be asked for.
var members = append([]string{"id", "type", "by", countName}, functionNames()...)

func functionNames() (names []string) {
	for _, function := range Functions {
		names = append(names, string(function))
	}
	return names
}

// IsMember reports whether a group can have a member of a name.
func IsMember(name string) bool { return slices.Contains(members, name) }

// Append appends the representation of a group of a collection.
func (g *Groups) Append(dst []byte, c *model.Collection, group *Group) []byte {
	by := []byte("{")
	for i, key := range g.By {
		if i > 0 {
			by = append(by, ',')
		}
		by = append(append(append(by, '"'), key.Name...), `":`...)
		by = key.Kind.AppendValue(by, group.By, i)
	}
	by = append(by, '}')
	dst = append(dst, `{"id":"`...)
	dst = model.NamedID(groupNamespace, append([]byte(c.Name), by...)).Append(dst)
	dst = append(dst, `","type":"`+GroupsType+`","by":`...)
	dst = append(append(dst, by...), `,"count":`...)
	dst = strconv.AppendInt(dst, group.Count, 10)
	return append(g.appendValues(dst, group), '}')
}

// groupNamespace is the UUIDv5 namespace of the ids of groups.
var groupNamespace = model.ID{0x0c, 0x5e, 0x3a, 0x91, 0x7d, 0x42, 0x4f, 0x0b, 0xb8, 0x6a, 0x1d, 0xe4, 0x92, 0x57, 0xcf, 0x38}

// appendValues appends the members of the functions, as far as they were asked for.
func (g *Groups) appendValues(dst []byte, group *Group) []byte {
	var last Function
	for i, value := range g.Values {
		if value.Function != last {
			if last != "" {
				dst = append(dst, '}')
			}
			dst = append(append(append(dst, `,"`...), value.Function...), `":{`...)
			last = value.Function
		} else {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), value.Name...), `":`...)
		dst = value.ResultKind().AppendValue(dst, group.Values, i)
	}
	if last != "" {
		dst = append(dst, '}')
	}
	return dst
}
