package ts

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// grantOf is what a role may do in a collection, and whether that is anything.
// Everybody has the operations that they asked for. Roles are declared with the newest names.
func grantOf(role *schema.Role, c *model.Collection) (*schema.Grant, bool) {
	if role == nil || c.ReadOnly() {
		return nil, true
	}
	for i := range role.Grants {
		if grant := &role.Grants[i]; grant.Collection == c.Base().Name {
			return grant, len(grant.Verbs) > 0
		}
	}
	return nil, false
}

// maySee reports whether the version has an attribute, and the role sees it.
func (f family) maySee(attribute string) bool {
	return f.shows(attribute) && (f.grant == nil || f.grant.MaySee(f.newest(attribute)))
}

func (f family) mayWrite(attribute string) bool {
	return f.shows(attribute) && (f.grant == nil || f.grant.MayWrite(f.newest(attribute)))
}

// shows reports whether the version has a field.
func (f family) shows(name string) bool {
	field := f.Field(name)
	return field != nil && f.Shows().Has(field.Column)
}

// newest is the newest name of an attribute.
func (f family) newest(attribute string) string {
	return f.Base().Columns()[f.Field(attribute).Column].Name
}

// timestamps reports whether resources have created_at and updated_at.
func (f family) timestamps() bool { return !f.NoTimestamps && f.shows("created_at") }

// mayFollow reports whether the changes of a collection can be read. The server's own writes are not in the log.
func (f family) mayFollow() bool {
	return !f.ReadOnly() && f.may(schema.MayChanges)
}

// verbs are those of which one must be granted.
type verbs []schema.AccessVerb

// methods are those of a collection, with what they need: one verb of each list.
var methods = []struct {
	needs []verbs
	names []string
}{
	{[]verbs{{schema.MayRead}}, []string{"get", "watchOne"}},
	{[]verbs{{schema.MayList}}, []string{"list", "total", "all", "backward", "groups", "watch"}},
	{[]verbs{{schema.MayCreate}}, []string{"create", "createMany", "createAsync"}},
	{[]verbs{{schema.MayUpdate}}, []string{"replace", "replaceAsync", "update", "updateAsync"}},
	{[]verbs{{schema.MayDelete}}, []string{"delete", "deleteAsync"}},
	{[]verbs{{schema.MayChanges}}, []string{"history"}},
	{[]verbs{{schema.MayList}, {schema.MayUpdate}}, []string{"updateMany"}},
	{[]verbs{{schema.MayList}, {schema.MayDelete}}, []string{"deleteMany"}},
	{[]verbs{{schema.MayCreate, schema.MayUpdate}}, []string{"upsert", "upsertMany"}},
	{[]verbs{{schema.MayCreate, schema.MayUpdate, schema.MayDelete}}, []string{"step"}},
}

// may reports whether a verb is granted in the collection.
func (f family) may(verb schema.AccessVerb) bool {
	return f.grant == nil || slices.Contains(f.grant.Verbs, verb)
}

// below is the type of the collection below a parent. Whoever cannot set the parent can
// create nothing there.
func (f family) below() string {
	if f.mayWrite(f.Parent.Attribute) {
		return f.collectionType("ChildOf<" + f.name + "Shape, " + literal(f.Parent.Attribute) + ">")
	}
	return f.collectionType("ChildOf<"+f.name+"Shape, never>", schema.MayCreate)
}

// collectionType is the type of a collection, without the methods that are of no use.
func (f family) collectionType(shape string, without ...schema.AccessVerb) string {
	whole := class(f) + "<" + shape + ">"
	var useless []string
	may := func(verb schema.AccessVerb) bool { return f.may(verb) && !slices.Contains(without, verb) }
	for _, m := range methods {
		missing := func(needed verbs) bool { return !slices.ContainsFunc(needed, may) }
		if slices.ContainsFunc(m.needs, missing) {
			useless = append(useless, quotedAll(m.names)...)
		}
	}
	if len(useless) == 0 {
		return whole
	}
	return "Omit<" + whole + ", " + strings.Join(useless, " | ") + ">"
}
