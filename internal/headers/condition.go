package headers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// ETag is the entity tag of a resource: the revision of its last change, the schema version since which its
// collection is declared as it is now, the history of the database, the version of the interface, 0 if it has none, the schema version that computes
// attributes in another way than the server, 0 if there is none, and which columns are visible, empty if all are. No two representations
// share one.
func ETag(revision, declaredIn int64, history string, version int, computedBy int64, columns string) string {
	tag := append(make([]byte, 0, 32), '"')
	tag = strconv.AppendInt(tag, revision, 36)
	tag = append(tag, '.')
	tag = strconv.AppendInt(tag, declaredIn, 36)
	tag = append(append(tag, '.'), history...)
	if version > 0 {
		tag = strconv.AppendInt(append(tag, ".v"...), int64(version), 10)
	}
	if computedBy > 0 {
		tag = strconv.AppendInt(append(tag, ".c"...), computedBy, 10)
	}
	if columns != "" {
		tag = append(append(tag, '.'), columns...)
	}
	return string(append(tag, '"'))
}

// Condition is the precondition of a request (RFC 9110, section 13.1). The zero value is none.
type Condition struct {
	IfMatch, IfNoneMatch *Tags
	Required             bool // If-Match must be given
}

// Tags is the value of If-Match or If-None-Match: * or a list of entity tags.
type Tags struct {
	Any    bool
	Strong []string // with their quotes
	Weak   []string // without W/
}

// ParseCondition reads the preconditions of a request from its headers.
func ParseCondition(ifMatch, ifNoneMatch []string) (condition Condition, err error) {
	if condition.IfMatch, err = parseTags("If-Match", ifMatch); err != nil {
		return Condition{}, err
	}
	condition.IfNoneMatch, err = parseTags("If-None-Match", ifNoneMatch)
	return condition, err
}

// parseTags reads If-Match or If-None-Match, nil if it is not there.
func parseTags(header string, given []string) (*Tags, error) {
	if given == nil {
		return nil, nil
	}
	text := strings.Join(given, ",")
	if strings.TrimSpace(text) == "*" {
		return &Tags{Any: true}, nil
	}
	tags := &Tags{}
	const separators = " \t," // list elements may be empty
	for rest := strings.TrimLeft(text, separators); rest != ""; rest = strings.TrimLeft(rest, separators) {
		opaque, weak := strings.CutPrefix(rest, "W/")
		end := tagEnd(opaque)
		if end < 0 {
			return nil, malformedTags(header)
		}
		list := &tags.Strong
		if weak {
			list = &tags.Weak
		}
		*list = append(*list, opaque[:end])
		rest = strings.TrimLeft(opaque[end:], " \t")
		if rest != "" && rest[0] != ',' {
			return nil, malformedTags(header)
		}
	}
	if len(tags.Strong)+len(tags.Weak) == 0 {
		return nil, malformedTags(header)
	}
	return tags, nil
}

// tagEnd returns the end of the quoted tag at the start of a list, or -1.
func tagEnd(text string) int {
	if text == "" || text[0] != '"' {
		return -1
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < '!' || c == 0x7f: // entity tags contain no spaces
			return -1
		}
	}
	return -1
}

func malformedTags(header string) error {
	return fault.Header(header, problem.CodeMalformedRequest, `%s must be * or a list of ETags, each in quotes, such as "1a.1.k3".`, header)
}

// includes compares with the current ETag, which is empty for a collection.
func (t *Tags) includes(etag string) bool {
	return t.Any || etag != "" && (slices.Contains(t.Strong, etag) || slices.Contains(t.Weak, etag))
}

// includesState compares with the state that the current ETag stands for: whichever attributes of the
// resource the client has seen, in whichever version, it has seen the same revision.
func (t *Tags) includesState(etag string, weakly bool) bool {
	same := func(tag string) bool { return stateOf(tag) == stateOf(etag) }
	return t.Any || etag != "" && (slices.ContainsFunc(t.Strong, same) || weakly && slices.ContainsFunc(t.Weak, same))
}

// stateOf is an ETag without what only representations of the same revision differ in: see ETag.
func stateOf(tag string) string {
	parts := strings.SplitN(strings.Trim(tag, `"`), ".", 4)
	return strings.Join(parts[:min(len(parts), 3)], ".")
}

// AllowsChange returns why the condition forbids a change, or nil.
func (c Condition) AllowsChange(etag string) error {
	switch {
	case c.IfMatch == nil && c.Required:
		return fault.Header("If-Match", problem.CodePreconditionRequired, "This collection requires If-Match. Send the ETag of the resource that you read.")
	case c.IfMatch != nil && !c.IfMatch.includesState(etag, false):
		return fault.Header("If-Match", problem.CodePreconditionFailed, "The resource does not match If-Match%s. Read it again, and send the new ETag.", nowAt(etag))
	case c.IfNoneMatch != nil && c.IfNoneMatch.includesState(etag, true):
		return fault.Header("If-None-Match", problem.CodePreconditionFailed, "The resource matches If-None-Match%s.", nowAt(etag))
	}
	return nil
}

func nowAt(etag string) string {
	if etag == "" {
		return ""
	}
	return ": its ETag is " + etag
}

// AllowsReading returns why the condition forbids a read. Unchanged means that the client has
// this state already.
func (c Condition) AllowsReading(etag string) (unchanged bool, err error) {
	if err := (Condition{IfMatch: c.IfMatch}).AllowsChange(etag); err != nil {
		return false, err
	}
	return c.IfNoneMatch != nil && c.IfNoneMatch.includes(etag), nil
}
