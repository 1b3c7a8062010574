package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
)

func drawTime(t *rapid.T) string {
	millis := rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, "millis") // the years 0000 to 9999
	return model.FormatTime(time.UnixMilli(millis))
}

// drawJSON draws the text of a JSON value: of a type, or of any if it is empty.
// Members and texts are few, so that definitions meet them.
func drawJSON(kind model.Type, depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := kind
		if kind == "" {
			kind = rapid.SampledFrom(append([]model.Type{""}, model.Types...)).Draw(t, "type")
		}
		if depth == 0 && (kind == model.Object || kind == model.Array) {
			return rapid.SampledFrom(map[model.Type][]string{model.Object: {"{}", "{ }"}, model.Array: {"[]", "[\n]"}}[kind]).Draw(t, "empty")
		}
		switch kind {
		case model.Boolean:
			return fmt.Sprint(rapid.Bool().Draw(t, "boolean"))
		case model.Integer:
			return rapid.SampledFrom([]string{"0", "-0", "1", "2", "3", "6", "-1", "-7", "1.0", "2e0", "30e-1", "9007199254740992", "100"}).Draw(t, "integer")
		case model.Number:
			return rapid.SampledFrom([]string{"0", "0.1", "0.3", "-0.5", "1.5", "2", "1e-7", "2.25", "1e18", "-3.0", "12.5"}).Draw(t, "number")
		case model.String:
			return quote(rapid.SampledFrom([]string{"", "a", "ab", "abc", "é", "𝄞𝄞", "b\n", `"`, "A1", "12"}).Draw(t, "string"))
		case model.Object:
			return "{" + strings.Join(rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
				return quote(rapid.SampledFrom([]string{"a", "b", "c", "é", ""}).Draw(t, "name")) + ":" + drawJSON("", depth-1).Draw(t, "value")
			}), 0, 4, func(member string) string { name, _, _ := strings.Cut(member, ":"); return name }).Draw(t, "members"), ",") + "}"
		case model.Array:
			items := rapid.SampledFrom(append([]model.Type{""}, model.Types...)).Draw(t, "items") // often all of one type
			return "[" + strings.Join(rapid.SliceOfN(drawJSON(items, depth-1), 0, 4).Draw(t, "array"), ",") + "]"
		default:
			return "null"
		}
	})
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// drawAttribute draws a definition. Some are contradictory; New refuses those.
func drawAttribute(name string, depth int) *rapid.Generator[model.Attribute] {
	return rapid.Custom(func(t *rapid.T) model.Attribute {
		a := model.Attribute{Name: name, Type: rapid.SampledFrom(model.Types).Draw(t, "type")}
		sometimes := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
		number := func(what string) json.Number {
			if !sometimes(what) {
				return ""
			}
			return json.Number(rapid.SampledFrom([]string{"0", "1", "2", "-1", "0.5", "3", "10", "1.5", "-0.5"}).Draw(t, what))
		}
		count := func(what string, least int) int {
			if !sometimes(what) {
				return 0
			}
			return rapid.IntRange(least, 3).Draw(t, what)
		}
		switch a.Type {
		case model.String:
			a.MinLength, a.MaxLength = count("minLength", 0), count("maxLength", 1)
			a.ContentMediaType = rapid.SampledFrom([]string{"", model.Markdown}).Draw(t, "contentMediaType")
			a.Pattern = rapid.SampledFrom([]string{"", "", "^a", "[0-9]", "b$", "^.{2}$"}).Draw(t, "pattern")
		case model.Integer, model.Number:
			a.Minimum, a.Maximum, a.ExclusiveMinimum, a.ExclusiveMaximum = number("minimum"), number("maximum"), number("exclusiveMinimum"), number("exclusiveMaximum")
			if sometimes("multipleOf") {
				a.MultipleOf = rapid.SampledFrom([]json.Number{"1", "2", "0.1", "0.5", "3", "0.25"}).Draw(t, "multipleOf")
			}
		case model.Array:
			a.MinItems, a.MaxItems = count("minItems", 0), count("maxItems", 1)
			if depth > 0 && sometimes("items") {
				items := drawAttribute("", depth-1).Draw(t, "items")
				a.Items = &items
			}
		case model.Object:
			for _, member := range []string{"a", "b", "é"} {
				if depth > 0 && sometimes("member") {
					property := drawAttribute(member, depth-1).Draw(t, member)
					property.Required = rapid.Bool().Draw(t, "required")
					a.Properties = append(a.Properties, property)
				}
			}
			a.Closed = rapid.Bool().Draw(t, "closed")
		}
		if sometimes("enum") && a.Type != model.Object { // objects are compared in the order of their members here
			for _, text := range rapid.SliceOfNDistinct(drawJSON(a.Type, 0), 1, 4, rapid.ID).Draw(t, "enum") {
				a.Enum = append(a.Enum, json.RawMessage(text))
			}
		}
		return a
	})
}
