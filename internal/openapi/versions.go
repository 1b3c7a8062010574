package openapi

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// versioned reports whether the interface has versions.
func (b *builder) versioned() bool { return len(b.Versions) > 0 }

// sunset is the date on which the version of the document ends; empty: it is not deprecated.
func (b *builder) sunset() string {
	at := slices.IndexFunc(b.Versions, func(v Version) bool { return v.Number == b.Version })
	if at < 0 {
		return ""
	}
	return b.Versions[at].Sunset
}

// describeVersions says which version the document describes, and which others there are.
func (b *builder) describeVersions() string {
	if !b.versioned() {
		return ""
	}
	text := fmt.Sprintf("This is version %d of the interface: send `API-Version: %d` with each request.", b.Version, b.Version)
	if newest := b.Versions[len(b.Versions)-1].Number; newest != b.Version {
		text += fmt.Sprintf(" The newest version is %d.", newest)
	}
	if sunset := b.sunset(); sunset != "" {
		text += " Version " + strconv.Itoa(b.Version) + " is deprecated, and ends on " + sunset + "."
	}
	return text
}

// versionList lists the versions for programs, such as the switch of the API reference.
func (b *builder) versionList() list {
	all := list{}
	for _, each := range b.Versions {
		version := object{{"version", each.Number}}
		version.addIf(each.Sunset != "", "sunset", each.Sunset)
		all = append(all, version)
	}
	return all
}

// versionNumbers lists the versions that clients can ask for.
func (b *builder) versionNumbers() list {
	all := list{}
	for _, each := range b.Versions {
		all = append(all, each.Number)
	}
	return all
}

// versionParameter is the header by which a client asks for the version of the document.
func (b *builder) versionParameter() object {
	return b.parameter("API-Version", func() object {
		return parameterIn("header", "API-Version",
			"The version of the interface that the request and the response are in. Without it, the server uses the version that your API key is pinned to, or else the newest.",
			object{{"type", "integer"}, {"const", b.Version}, {"default", b.Version}}, b.Version)
	})
}

// withoutVersion describes what is the same in every version.
func (b *builder) withoutVersion(describe func() object) object {
	defer func(versions []Version) { b.Versions = versions }(b.Versions)
	b.Versions = nil
	return describe()
}

// defineIn is an attribute of a collection as a JSON Schema. Resources show what is stored, also values that only a newer version
// accepts. What is sent must be valid in the version of the document and in the newest: InVersion has the constraints of both, but
// for the values inside.
func defineIn(a *model.Attribute, v variant) object {
	if v == readVariant {
		return define(a, true, !a.Required)
	}
	declared := a.InVersion()
	d := define(declared, false, !declared.Required)
	if len(a.Tightened(declared)) == 0 {
		return d
	}
	return object{{"allOf", list{d, define(a, false, !declared.Required)}}}
}

// describeSent says what is required of a value, of what is sent by the version and by the newest one.
func describeSent(a *model.Attribute, v variant) string {
	declared := a.InVersion()
	if v == readVariant || declared == a {
		return describeRest(a)
	}
	text := describeRest(declared)
	if more := describeRest(a); more != text && len(a.Tightened(declared)) > 0 {
		text += more
	}
	return text
}

// isValid reports whether a value can be sent in the version of the document.
func isValid(a *model.Attribute, text []byte) bool {
	for _, each := range []*model.Attribute{a, a.InVersion()} {
		if _, err := each.DecodeJSON(text); err != nil {
			return false
		}
	}
	return true
}

// timestamps reports whether the reader sees created_at and updated_at of a collection.
func (b *builder) timestamps(c *model.Collection) bool {
	field := c.Field("created_at")
	return !c.NoTimestamps && field != nil && b.By.Visible(c).Has(field.Column)
}
