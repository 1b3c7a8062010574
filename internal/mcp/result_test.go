package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/plural-go/plural/client"
)

// value draws a JSON value.
func value(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "boolean")
	case 2:
		return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "number")))
	case 3:
		return rapid.StringN(0, 12, -1).Draw(t, "text")
	case 4:
		return rapid.Custom(func(t *rapid.T) []any {
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				list = append(list, value(t, depth-1))
			}
			return list
		}).Draw(t, "list")
	}
	return drawn(t, depth)
}

func drawn(t *rapid.T, depth int) map[string]any {
	members := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		members[rapid.SampledFrom([]string{"a", "b", "created_at", "x"}).Draw(t, "name")] = value(t, depth-1)
	}
	return members
}

// naively is what shorten does, to decoded values.
func naively(v any, most int, top bool) any {
	switch v := v.(type) {
	case string:
		if runes := []rune(v); len(runes) > most {
			return map[string]any{"starts_with": string(runes[:most]), "characters": json.Number(fmt.Sprint(len(runes)))}
		}
	case []any:
		list := []any{}
		for _, each := range v {
			list = append(list, naively(each, most, false))
		}
		return list
	case map[string]any:
		members := map[string]any{}
		for name, each := range v {
			if !top || each != nil {
				members[name] = naively(each, most, false)
			}
		}
		return members
	}
	return v
}

func decoded(t *rapid.T, text []byte) (v any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestShorten compares the copy of tokens with a naive one of values.
func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := drawn(t, 3)
		text, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		given = decoded(t, text).(map[string]any)
		most := rapid.IntRange(0, 8).Draw(t, "most")
		if got, want := decoded(t, shorten(text, most, true)), naively(given, most, true); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %v\nwant %v", text, got, want)
		}
		if got := decoded(t, visible(text)); !reflect.DeepEqual(got, any(given)) {
			t.Fatalf("%s as escapes is %s", text, visible(text))
		}
		delete(given, "created_at")
		if got := decoded(t, without(text, "created_at")); !reflect.DeepEqual(got, any(given)) {
			t.Fatalf("%s without created_at is %v", text, got)
		}
	})
}

// TestCutLists: wherever a response is cut, the resources before that and the next one are known, or there is an error. None is left out.
func TestCutLists(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i) }
	var whole strings.Builder
	whole.WriteString(`{"data":[`)
	for i := range 4 {
		if i > 0 {
			whole.WriteByte(',')
		}
		fmt.Fprintf(&whole, `{"id":"%s","text":"%s"}`, id(i), strings.Repeat("x", maxResponse/4))
	}
	whole.WriteString(`]}`)
	text := whole.String()
	first := strings.Index(text, `}`) + 1
	padding := strings.Repeat(" ", maxResponse) // so that each cut is at the bound
	for _, at := range []int{first - 1, first, first + 1, first + 2, first + 10, first + 48, first + 100, 2*first - len(`{"data":[`) + 1, 2 * first, 2*first + 50} {
		items, next, err := itemsOf(&client.Response{Body: []byte(padding[at:] + text[:at])})
		switch {
		case at < first+46: // nothing can be returned, or not what follows
			if err == nil {
				t.Errorf("at %d: %d resources, next %q", at, len(items), next)
			}
		case err != nil:
			t.Errorf("at %d: %v", at, err)
		case next == "" || next != id(len(items)):
			t.Errorf("at %d: after %d resources the next is %q", at, len(items), next)
		}
	}
}

// TestDescriptionsAreBounded: a description has no cursor, and is refused if it is too long.
func TestDescriptionsAreBounded(t *testing.T) {
	for length, fits := range map[int]bool{maxDescribed - 500: true, maxDescribed: false} {
		text, err := wholeResult(jsontext.Value(quote(strings.Repeat("x", length))))
		if (err == nil) != fits || len(text) > maxDescribed {
			t.Errorf("%d: %d bytes, %v", length, len(text), err)
		}
	}
}
