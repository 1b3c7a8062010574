package feed

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// fingerprint identifies a shape.
type fingerprint [8]byte

// canonical is a text that is equal for shapes whose subscribers see the same events: the
// declaration of the collection, its names in the version, what filter and rule select, and what is visible.
func (f *Feed) canonical(s *Shape) []byte {
	text, schema := []byte{}, cmp.Or(s.Schema, f.store.Schema())
	version := schema.Versions().Newest
	field := func(name string) { text = append(append(text, 0), name...) }
	selected := func(by query.Filter) { text = appendFilter(append(text, 0), by) }
	declared := func(c *model.Collection) {
		field(strconv.FormatInt(f.store.DeclaredIn(c), 10))
		if by := f.store.ComputedBy(c); by != 0 {
			field("computed" + strconv.FormatInt(by, 10))
		}
		if version == 0 && schema == schema.Base() {
			return
		}
		field("version" + strconv.Itoa(version))
		for i := range c.Attributes { // nodes may serve a version under two sets of names while a migration is expanded
			field(c.Attributes[i].Name)
		}
	}
	c := s.Path.Collection
	if c == nil {
		text = append(text, "changes"...)
		for _, each := range schema.All() {
			if mayFollow(s.Path.By, each) {
				field(each.Name)
				declared(each)
				field(s.Path.By.ColumnsTag(each))
				selected(s.Path.By.Scope(each))
			}
		}
	} else {
		text = append(text, c.Name...)
		declared(c)
		field(c.ColumnsTag(s.visible()))
		field(strconv.FormatBool(showsCaller(s.Path.By, c)))
		selected(s.Path.By.Scope(c))
	}
	selected(s.Filter)
	if s.ID != nil {
		field("id" + s.ID.String())
	}
	if s.Path.Parent != nil {
		field("parent" + s.Path.Parent.String())
		selected(s.Path.By.Scope(c.ParentLink().To))
	}
	return text
}

func fingerprintOf(canonical []byte) (f fingerprint) {
	sum := sha256.Sum256(canonical)
	copy(f[:], sum[:])
	return f
}

// appendFilter appends a text that identifies a filter. The order of conditions and of values
// does not matter.
func appendFilter(dst []byte, filter query.Filter) []byte {
	switch f := filter.(type) {
	case nil:
		return append(dst, '-')
	case query.And:
		return appendEach(append(dst, "and"...), f, appendFilter)
	case query.Or:
		return appendEach(append(dst, "or"...), f, appendFilter)
	case query.Not:
		return append(appendFilter(append(dst, "not("...), f.Filter), ')')
	case query.IsNull:
		return strconv.AppendInt(append(dst, "null "...), int64(f.Column), 10)
	case query.In:
		dst = strconv.AppendInt(append(dst, "in "...), int64(f.Column), 10)
		return appendValues(dst, f.Values)
	case query.Compare:
		dst = strconv.AppendInt(append(append(dst, f.Op...), ' '), int64(f.Column), 10)
		return f.Value.AppendDistinct(dst)
	case query.Search:
		dst = append(dst, "search"...)
		for _, column := range f.Columns {
			dst = strconv.AppendInt(append(dst, ' '), int64(column), 10)
		}
		return appendSorted(dst, slices.Clone(f.Words))
	case query.OnValue: // inside an object: a stream does not look at other resources
		dst = strconv.AppendInt(append(dst, "inside "...), int64(f.Column), 10)
		dst = strconv.AppendInt(append(dst, ' '), int64(f.Kind), 10)
		for _, name := range f.Path {
			dst = append(append(dst, 0), name...)
		}
		return append(appendFilter(append(dst, '('), f.Filter), ')')
	case query.Has:
		dst = strconv.AppendInt(strconv.AppendBool(append(dst, "has "...), f.All), int64(f.Column), 10)
		return appendValues(dst, f.Values)
	case *query.Related:
		dst = append(append(append(dst, "related "...), f.Relation.To.Name...), 0)
		dst = append(append(dst, f.Relation.Name...), '(')
		dst = append(appendFilter(dst, f.Scope), ')', '(')
		return append(appendFilter(dst, f.Filter), ')')
	default:
		panic("feed: a filter of an unknown type")
	}
}

func appendValues(dst []byte, values []model.Value) []byte {
	return appendEach(dst, values, func(dst []byte, value model.Value) []byte { return value.AppendDistinct(dst) })
}

func appendEach[T any](dst []byte, all []T, appendOne func([]byte, T) []byte) []byte {
	texts := make([]string, len(all))
	for i, each := range all {
		texts[i] = string(appendOne(nil, each))
	}
	return appendSorted(dst, texts)
}

// appendSorted appends texts with their lengths, so that no text can look like two.
func appendSorted(dst []byte, texts []string) []byte {
	slices.Sort(texts)
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, text := range texts {
		dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	}
	return dst
}
