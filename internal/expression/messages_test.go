package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// bookings is a collection with attributes of every kind.
func bookings(t testing.TB) *model.Collection {
	t.Helper()
	s, err := compile.Schema(
		model.Collection{Name: "rooms", Attributes: []model.Attribute{{Name: "seats", Type: model.Integer}}},
		model.Collection{Name: "bookings", Attributes: []model.Attribute{
			{Name: "starts_on", Type: model.String, Format: model.Date}, {Name: "ends_on", Type: model.String, Format: model.Date},
			{Name: "at", Type: model.String, Format: model.DateTime}, {Name: "title", Type: model.String}, {Name: "name", Type: model.String, Required: true},
			{Name: "seats", Type: model.Integer}, {Name: "weight", Type: model.Number}, {Name: "paid", Type: model.Boolean}, {Name: "tags", Type: model.Array},
			{Name: "price", Type: model.String, Format: model.Decimal, Scale: 2}, {Name: "rate", Type: model.String, Format: model.Decimal, Scale: 4},
			{Name: "owner", Type: model.String, Format: model.UUID}, {Name: "room_id", References: &model.Reference{Collection: "rooms"}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Collection("bookings")
}

func problemsOf(problems []expression.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message)
	}
	return strings.Join(lines, "\n")
}

// TestMistakes: a mistake is reported at its place, with what to write instead.
func TestMistakes(t *testing.T) {
	c := bookings(t)
	for text, want := range map[string]string{
		"":                                           "3:5 the expression is empty: write true for a rule that always holds",
		"ends_on > starts_on":                        "3:5 ends_on is not known: write resource.ends_on\n3:15 starts_on is not known: write resource.starts_on",
		"resource.paid and resource.seats > 1":       "3:19 write && instead of and (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.paid or true":                      "3:19 write || instead of or (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"not resource.paid":                          "3:9 write ! instead of not (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.paid AND true":                     "3:19 write && instead of AND (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.seats = 1":                         "3:20 write == instead of = (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.seats <> 1":                        "3:21 write != instead of <> (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.title is null":                     "3:20 write == or != instead of is (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.title LIKE 'a%'":                   "3:20 write contains(), startsWith(), endsWith() or matches() instead of LIKE (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.seats between 1 and 2":             "3:20 write >= and <= with &&, such as resource.a >= 1 && resource.a <= 5 instead of between (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"LOWER(resource.title) == 'a'":               "3:10 there is no function LOWER: (?i) in a pattern ignores the case: resource.name.matches('(?i)^abc$')",
		"COALESCE(resource.seats, 0) > 1":            "3:13 COALESCE is not known: write resource.a != null ? resource.a : resource.b",
		"resource.at < NOW()":                        "3:22 NOW is not known: write now without brackets, which is the time of the write",
		"resource.at < now()":                        "3:22 now is not known: write now without brackets, which is the time of the write",
		"resource.title == NULL":                     "3:23 NULL is not known: write null in lower case",
		"length(resource.title) > 1":                 "3:11 length is not known: write size()",
		"resource.title.length() > 1":                "3:26 length is not known: write size()",
		"resource.title.size > 1":                    "3:19 this is a string, which has no members",
		"resource.title.lower() == 'a'":              "3:25 there is no function lower: (?i) in a pattern ignores the case: resource.name.matches('(?i)^abc$')",
		"frobnicate(resource.title)":                 "3:15 frobnicate is not known: use resource.ATTRIBUTE, previous.ATTRIBUTE, auth.sub, auth.role, auth.claims and now",
		"resource.title.startswith('a')":             "3:30 startswith is not known (did you mean startsWith?)",
		"resource.room.seats > 1":                    "3:18 room is another resource, and this rule reads only the resource itself: use an attribute of bookings, such as the reference room_id",
		"resource.room == null":                      "3:13 room is another resource, and this rule reads only the resource itself: use an attribute of bookings, such as the reference room_id",
		"resource.room_id.seats > 1":                 "3:21 room_id is the id of another resource, and this rule reads only the resource itself: use an attribute of bookings, such as the reference room_id",
		"resource.nothing.seats > 1":                 "3:21 bookings has no attribute or reference nothing",
		"resource.titel == 'a'":                      "3:13 bookings has no attribute titel (did you mean title?)",
		"resource.tags.first == 'a'":                 "3:18 tags is an array, which has no members: use size(), in, all(), exists() or [0]",
		"resource.type == 'bookings'":                "3:13 the type of every resource here is bookings: a rule cannot use it",
		"resource.updated_at < now":                  "3:13 updated_at changes with every write: use now, which is the same time",
		"has(resource.title)":                        "3:8 every resource has every attribute: compare with null instead of using has()",
		"resource":                                   "3:5 resource cannot be used as a whole: use an attribute of it, as in resource.ATTRIBUTE",
		"previous":                                   "3:5 previous can only be compared with null, or followed by an attribute, as in previous.ATTRIBUTE",
		"previous.titel == 'a'":                      "3:13 bookings has no attribute titel (did you mean title?)",
		"resource == null":                           "3:5 resource cannot be used as a whole: use an attribute of it, as in resource.ATTRIBUTE",
		"previous == resource":                       "3:5 previous can only be compared with null, or followed by an attribute, as in previous.ATTRIBUTE",
		"auth.user == 'a'":                           "3:9 auth has no user: use auth.sub, auth.role or auth.claims",
		"auth == null":                               "3:5 auth cannot be used as a whole: use auth.sub, auth.role or auth.claims.NAME",
		"auth.claims == {}":                          "3:9 auth.claims cannot be used as a whole: use one claim, such as auth.claims.team",
		"resorce.paid":                               "3:5 resorce is not known (did you mean resource?)",
		"x > 1":                                      "3:5 x is not known: use resource.ATTRIBUTE, previous.ATTRIBUTE, auth.sub, auth.role, auth.claims and now",
		"resource.seats == '1'":                      "3:20 == does not take an integer and a string: write a number without quotes, or convert with string()",
		"resource.seats > 1.5":                       "3:20 > does not take an integer and a number: write a number with a point, such as 2.0, or convert with double()",
		"resource.weight > 1":                        "3:21 > does not take a number and an integer: write a number with a point, such as 2.0, or convert with double()",
		"resource.at > '2026-01-01'":                 "3:17 > does not take a date-time and a string: write timestamp(resource.day) for a date, and timestamp('2026-12-01T00:00:00Z') for a time",
		"resource.at + 1 > now":                      "3:17 + does not take a date-time and an integer: add or subtract a duration such as duration('24h')",
		"resource.name == null":                      "3:19 == does not take a string and null: the other side is never null",
		"resource.title || resource.name":            "3:13 this must be a boolean, but is a string: texts are joined by +\n3:31 this must be a boolean, but is a string: texts are joined by +",
		"!resource.seats":                            "3:5 ! does not take an integer",
		"resource.seats":                             "3:5 a rule must be true or false, but the type of this one is integer",
		"resource.paid ? 1 : 2":                      "3:5 a rule must be true or false, but the type of this one is integer",
		"resource.paid ? 1 : 'a'":                    "3:19 both results of ?: must have the same type, but they are integer and string",
		"resource.price / 2 > 1":                     "3:20 decimals cannot be divided, as the result may have no end: multiply by a number instead, such as * 0.5",
		"resource.price % 2 > 1":                     "3:20 % is for integers only, and not for decimals",
		"resource.price * resource.weight > 1":       "3:30 a decimal cannot be mixed with a number, which is not exact: declare this attribute as a decimal too (type: string, format: decimal), or write a number such as 0.19",
		"resource.price == '1.00'":                   "3:23 a decimal cannot be compared with a string: write the number without quotes, such as 0.19",
		"resource.price == true":                     "3:23 a decimal cannot be used together with a boolean",
		"[resource.price][0] > 1":                    "3:25 > does not take a decimal and an integer: decimals are compared and computed with decimals, integers and numbers that are written out",
		"{'a': resource.price}.a > 1":                "3:29 > does not take a decimal and an integer: decimals are compared and computed with decimals, integers and numbers that are written out",
		"resource.price in ['1']":                    "3:24 a decimal cannot be compared with a string: write the number without quotes, such as 0.19",
		"resource.price > 1e999":                     "3:22 invalid double literal (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"-resource.title == 'a'":                     "3:5 - does not take a string",
		"resource.at < timestamp('soon')":            "3:28 this cannot be evaluated: invalid RFC 3339 timestamp \"soon\"",
		"resource.title.matches('(')":                "3:27 this cannot be evaluated: error parsing regexp: missing closing ): `(`",
		"resource.paid &&\n  resource.titel == 'a'":  "4:15 bookings has no attribute titel (did you mean title?)",
		"resource.paid && (true":                     "3:27 Syntax error: missing ')' at '<EOF>' (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.title == 'a":                       "3:23 this text has no end: close the quotes (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.starts_on < now":                   "3:24 < does not take a string and a date-time: write timestamp(resource.day) for a date, and timestamp('2026-12-01T00:00:00Z') for a time",
		"resource.starts_on < today()":               "3:31 today is not known: write timestamp(resource.day) + duration('24h') > now, if the day is not in the past (UTC)",
		"resource.ends_on - resource.starts_on < 30": "3:22 - does not take a string and a string: to compute with dates, write timestamp(resource.day), as in timestamp(resource.day) + duration('24h')",
		"resource.ends_on < resource.starts_on + 30": "3:43 + does not take a string and an integer: convert the number with string(), or write timestamp(resource.day) + duration('24h') for a day after a date",
		"resource.starts_on + duration('24h') > ''":  "3:24 + does not take a string and a duration: to compute with dates, write timestamp(resource.day), as in timestamp(resource.day) + duration('24h')",
		"now - resource.at < duration('30d')":        "3:33 this is no duration: write hours, minutes or seconds, such as duration('720h') for 30 days",
		"now - resource.at < 30":                     "3:23 < does not take a duration and an integer: write a duration in hours, minutes or seconds, such as duration('720h')",
		"resource.starts_on.getDayOfWeek() == 0":     "3:36 getDayOfWeek does not take a string: write timestamp(resource.day).getDayOfWeek() for a date",
		"endsWith(resource.title, 'a')":              "3:13 endsWith does not take a string and a string: write the text in front, as in resource.name.endsWith('abc')",
		"resource.title.toLowerCase() == 'a'":        "3:31 there is no function toLowerCase: (?i) in a pattern ignores the case: resource.name.matches('(?i)^abc$')",
		"resource.title.includes('a')":               "3:28 includes is not known: write contains()",
		"resource.title =~ '^a'":                     "3:20 write matches() instead of =~ (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.title ~ '^a'":                      "3:20 write matches() instead of ~ (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.seats ?? 0 > 1":                    "3:21 write resource.a != null ? resource.a : resource.b instead of ?? (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"@request.auth.id != ''":                     "3:5 write resource., previous. or auth. instead of @ (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		"resource.title in ('a', 'b')":               "3:27 there can be no , here: a list has brackets, as in resource.a in ['x', 'y'] (expressions are written in CEL, with ==, !=, <, in, &&, || and !)",
		`resource.title.matches('\.com$')`:           `3:28 a \ in a text must be written twice, or r in front of the quotes, as in r'\.com$' (expressions are written in CEL, with ==, !=, <, in, &&, || and !)`,
		"resource.title in 'a'":                      "3:20 in does not take a string and a string: the right side of in is a list, such as [1, 2]",
		"(resource.paid ? 1 : null) == 'a'":          "3:32 == does not take an integer and a string: write a number without quotes, or convert with string()",
		"matches(resource.title, '(')":               "3:12 this cannot be evaluated: error parsing regexp: missing closing ): `(`",
		"resource.title.matches(resource.name)":      "3:36 the pattern of matches must be a text that is written here: a stored one could take any time",
		"matches(resource.title, auth.sub)":          "3:33 the pattern of matches must be a text that is written here: a stored one could take any time",
	} {
		_, problems := expression.Compile(model.Rule{Text: text, Line: 3, Column: 5}, expression.Scope{Collection: c, Data: true}, model.KindBoolean)
		if got := problemsOf(problems); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}
