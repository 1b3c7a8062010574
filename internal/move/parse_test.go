package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// attributes of all types, by the name that the tests use.
var typed = map[string]client.Attribute{
	"integer":   {Name: "a", Type: "integer"},
	"number":    {Name: "a", Type: "number"},
	"decimal":   {Name: "a", Type: "string", Format: "decimal"},
	"boolean":   {Name: "a", Type: "boolean"},
	"string":    {Name: "a", Type: "string"},
	"date":      {Name: "a", Type: "string", Format: "date"},
	"date-time": {Name: "a", Type: "string", Format: "date-time"},
	"reference": {Name: "a", Type: "string", Format: "uuid", References: "things"},
}

// converted is a text as an attribute of a type has it after --parse: JSON, or what is wrong.
func converted(t *testing.T, of, form, text string) string {
	t.Helper()
	columns := ColumnsOf([]client.Attribute{typed[of]})
	if err := columns.Map(context.Background(), nil, client.Description{}, Mapping{Parsed: []string{"a=" + form}}); err != nil {
		return err.Error()
	}
	value, err := columns.reads("a").append(nil, text)
	if err != nil {
		return err.Error()
	}
	return string(value)
}

// TestForms: what each form reads, and what it says of anything else.
func TestForms(t *testing.T) {
	const said = ", as --parse a=%s says."
	for _, test := range []struct{ of, form, text, want string }{
		{"integer", "number", "007", "7"},
		{"integer", "number", " +12 ", "12"},
		{"integer", "number", "12.0", "12"},
		{"integer", "number", "-9223372036854775808", "-9223372036854775808"},
		{"integer", "number", "123456789012345678901234567890", "123456789012345678901234567890"}, // which the server refuses
		{"integer", "number", "1e3", "1000"},
		{"integer", "number", "−5", "-5"},
		{"integer", "number", "-0", "0"},
		{"number", "number", ".5", "0.5"},
		{"number", "number", "5.", "5"},
		{"number", "number", "1.50E-2", "0.015"},
		{"decimal", "number", "1234.50", `"1234.5"`},
		{"decimal", "number", "0.10", `"0.1"`},
		{"decimal", "number", "1e-3", `"0.001"`},
		{"decimal", "number", "000", `"0"`},
		{"decimal", "number:,", "-1.234.567,80", `"-1234567.8"`},
		{"decimal", "number:,", "1 234,5", `"1234.5"`},
		{"decimal", "number:,", "1.234", `"1234"`},
		{"decimal", "number:.", "1,234.50", `"1234.5"`},
		{"decimal", "number:.", "1'234'567.5", `"1234567.5"`},
		{"decimal", "number:.", "1234567.5", `"1234567.5"`},
		{"decimal", "number:.", "1,23.5", "Must be a number with a decimal point, such as 1234.5 or 1,234.5" + said},
		{"decimal", "number:.", "1,234'567", "Must be a number with a decimal point, such as 1234.5 or 1,234.5" + said},
		{"decimal", "number:.", "1,5", "Must be a number with a decimal point, such as 1234.5 or 1,234.5" + said},
		{"decimal", "number", "1,234", "Must be a number such as 1234.5" + said},
		{"decimal", "number", "", "Must be a number such as 1234.5" + said},
		{"decimal", "number", ".", "Must be a number such as 1234.5" + said},
		{"decimal", "number", "--1", "Must be a number such as 1234.5" + said},
		{"decimal", "number", "1e", "Must be a number such as 1234.5" + said},
		{"decimal", "number", "1e401", "Must be a number such as 1234.5" + said},
		{"decimal", "number", strings.Repeat("1", 401), "Must be a number such as 1234.5" + said},
		{"number", "number", "NaN", "Must be a number such as 1234.5" + said},
		{"number", "number", "٣", "Must be a number such as 1234.5" + said},
		{"decimal", "number:;", "1", "--parse a=number:;: write a=number:, for a decimal comma, or a=number:. for a decimal point"},

		{"boolean", "boolean", "1", "true"},
		{"boolean", "boolean", "NO", "false"},
		{"boolean", "boolean", " t ", "true"},
		{"boolean", "boolean", "off", "false"},
		{"boolean", "boolean", "2", "Must be true or false, yes or no, 1 or 0, on or off" + said},
		{"boolean", "boolean:ja/nein", "Ja", "true"},
		{"boolean", "boolean:ja/nein", "nein", "false"},
		{"boolean", "boolean:ja/nein", "1", `Must be "ja" or "nein"` + said},
		{"boolean", "boolean:ja", "ja", "--parse a=boolean:ja: there must be two texts with a slash between them, such as a=boolean:ja/nein"},
		{"boolean", "boolean:x/X", "x", "--parse a=boolean:x/X: there must be two texts with a slash between them, such as a=boolean:ja/nein"},
		{"boolean", "boolean:", "x", "--parse a=boolean:: nothing follows the colon: write a=boolean[:TRUE/FALSE]"},

		{"date-time", "date", "2024-12-31 10:00:00", `"2024-12-31T10:00:00.000Z"`},
		{"date-time", "date", "2024-12-31 10:00", `"2024-12-31T10:00:00.000Z"`},
		{"date-time", "date", "2024/12/31 10:00:00.123999", `"2024-12-31T10:00:00.123Z"`},
		{"date-time", "date", "1969-12-31 23:59:59.999999", `"1969-12-31T23:59:59.999Z"`},
		{"date-time", "date", "2024-12-31T10:00:00,5+01:00", `"2024-12-31T09:00:00.500Z"`},
		{"date-time", "date", "2024-12-31 10:00:00 +0530", `"2024-12-31T04:30:00.000Z"`},
		{"date-time", "date", "2024-12-31 10:00:00-08", `"2024-12-31T18:00:00.000Z"`},
		{"date-time", "date", "2024-12-31 10:00:00 UTC", `"2024-12-31T10:00:00.000Z"`},
		{"date-time", "date", "20241231", `"2024-12-31T00:00:00.000Z"`},
		{"date-time", "date", "2024-2-9", `"2024-02-09T00:00:00.000Z"`},
		{"date-time", "date", "2024-02-30", "Must be a date-time such as 2024-12-31 10:00:00" + said},
		{"date-time", "date", "2024-12-31 24:00:00", "Must be a date-time such as 2024-12-31 10:00:00" + said},
		{"date-time", "date", "2024-12-31 10:00:00 CET", "Must be a date-time such as 2024-12-31 10:00:00" + said},
		{"date-time", "date", "2024-12-31 10:00:00.", "Must be a date-time such as 2024-12-31 10:00:00" + said},
		{"date-time", "date", "2024-12/31", "Must be a date-time such as 2024-12-31 10:00:00" + said},
		{"date-time", "date", "0000-01-01 00:00 +01:00", "Must be a date-time whose year in UTC is between 0000 and 9999" + said},
		{"date", "date", "1996-07-04 00:00:00.000", `"1996-07-04"`},
		{"date", "date", "1996-07-04T00:00:00+02:00", `"1996-07-04"`},
		{"date", "date", "1996-07-04 00:00:00.001", "Must be a date without a time, or midnight" + said},
		{"date", "date", "04.07.1996", "Must be a date such as 2024-12-31" + said},
		{"date", "date:%d.%m.%Y", "4.7.1996", `"1996-07-04"`},
		{"date", "date:%d.%m.%y", "04.07.68", `"2068-07-04"`},
		{"date", "date:%d.%m.%y", "04.07.69", `"1969-07-04"`},
		{"date", "date:%e %B %Y", " 4 july 1996", `"1996-07-04"`},
		{"date", "date:%b %e, %Y", "May 4, 1996", `"1996-05-04"`},
		{"date", "date:%Y%m%d", "19960704", `"1996-07-04"`},
		{"date", "date:%d.%m.%Y", "1996-07-04", "Must be of the layout %d.%m.%Y, such as 31.12.2024" + said},
		{"date", "date:%d.%m.%Y", "31.11.1996", "Must be of the layout %d.%m.%Y, such as 31.12.2024" + said},
		{"date", "date:%d.%m.%Y", "31.12.1996 ", `"1996-12-31"`},
		{"date-time", "date:%m/%d/%Y %I:%M:%S %p", "07/04/1996 12:05:06 AM", `"1996-07-04T00:05:06.000Z"`},
		{"date-time", "date:%m/%d/%Y %I:%M:%S %p", "07/04/1996 12:05:06 pm", `"1996-07-04T12:05:06.000Z"`},
		{"date-time", "date:%m/%d/%Y %I:%M %p", "07/04/1996 13:05 PM", "Must be of the layout %m/%d/%Y %I:%M %p, such as 12/31/2024 10:00 AM" + said},
		{"date-time", "date:%a, %d %b %Y %H:%M:%S %z", "Thu, 04 Jul 1996 10:00:00 GMT", `"1996-07-04T10:00:00.000Z"`},
		{"date-time", "date:%Y-%m-%d %H:%M:%S.%f", "1996-07-04 10:00:00.123456", `"1996-07-04T10:00:00.123Z"`},
		{"date-time", "date:100%% %Y-%m-%d", "100% 1996-07-04", `"1996-07-04T00:00:00.000Z"`},
		{"date", "date:%d.%m", "", "--parse a=date:%d.%m: a layout has %d, %m and %Y or %y, once each, and can have %H %M %S %f %I %p %b %B %a %A %e %z and %%, such as date:%d.%m.%Y"},
		{"date", "date:DD.MM.YYYY", "", "--parse a=date:DD.MM.YYYY: a layout has %d, %m and %Y or %y, once each, and can have %H %M %S %f %I %p %b %B %a %A %e %z and %%, such as date:%d.%m.%Y"},
		{"date", "date:%Y-%m-%d%Y", "", "--parse a=date:%Y-%m-%d%Y: %Y cannot be used there: a layout has %d, %m and %Y or %y, once each, and can have %H %M %S %f %I %p %b %B %a %A %e %z and %%, such as date:%d.%m.%Y"},
		{"date-time", "date:%Y-%m-%d %I:%M", "", "--parse a=date:%Y-%m-%d %I:%M: %I and %p belong together, as in %I:%M %p: %H are the hours up to 23"},
		{"date-time", "date:%Y-%m-%d %M", "", "--parse a=date:%Y-%m-%d %M: a time needs all parts before its last one, as in %H:%M:%S"},

		{"date-time", "seconds", "1735639200", `"2024-12-31T10:00:00.000Z"`},
		{"date-time", "seconds", "1735639200.1239", `"2024-12-31T10:00:00.123Z"`},
		{"date-time", "seconds", "1.7356392e9", `"2024-12-31T10:00:00.000Z"`},
		{"date-time", "seconds", "-0.0001", `"1969-12-31T23:59:59.999Z"`},
		{"date-time", "milliseconds", "1735639200123", `"2024-12-31T10:00:00.123Z"`},
		{"date-time", "microseconds", "1735639200123999", `"2024-12-31T10:00:00.123Z"`},
		{"date-time", "seconds", "1735639200123", "Must be a number of seconds between the years 0000 and 9999, such as 1735639200" + said},
		{"date-time", "microseconds", "now", "Must be a number of microseconds since 1970, such as 1735639200000000" + said},
		{"date", "seconds", "86400", `"1970-01-02"`},
		{"date", "seconds", "86401", "Must be a date without a time, or midnight" + said},

		{"string", "text", "01.50", `"01.50"`},

		{"decimal", "decimal", "", `--parse a=decimal: there is no form "decimal": write number, which reads integers and decimals`},
		{"date-time", "ISO-8601", "", `--parse a=ISO-8601: there is no form "ISO-8601": write date, which reads date-times too`},
		{"date", "dates", "", `--parse a=dates: there is no form "dates" (did you mean date?): use number[:MARK], boolean[:TRUE/FALSE], date[:LAYOUT], seconds, milliseconds, microseconds, text or null:TEXT`},
		{"date", "%d.%m.%Y", "", `--parse a=%d.%m.%Y: a layout is the argument of the form date: write a=date:%d.%m.%Y`},
		{"date", "null", "", "--parse a=null: write a=null:TEXT"},
		{"date-time", "seconds:3", "", "--parse a=seconds:3: the form seconds takes no argument: write a=seconds"},
		{"string", "number", "", "--parse a=number: the form number is for integers, numbers, decimals, and a is a string: use text or null:TEXT"},
		{"decimal", "boolean", "", "--parse a=boolean: the form boolean is for booleans, and a is a decimal: use number[:MARK] or null:TEXT"},
		{"reference", "text", "", "--parse a=text: the form text is for strings, and a is a reference: use null:TEXT"},
	} {
		want := strings.Replace(test.want, said, strings.Replace(said, "%s", test.form, 1), 1)
		if got := converted(t, test.of, test.form, test.text); got != want {
			t.Errorf("%s as %s for %s: got %s, want %s", test.text, test.form, test.of, got, want)
		}
	}
}

// TestFormsAreInverses: a form reads what a program writes in it, without any loss.
func TestFormsAreInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		check := func(of, form, text, want string) {
			columns := ColumnsOf([]client.Attribute{typed[of]})
			if err := columns.parse("--parse", "a="+form); err != nil {
				t.Fatal(err)
			}
			if got, err := columns.reads("a").append(nil, text); string(got) != want {
				t.Fatalf("%s as %s for %s: got %s, want %s (%v)", text, form, of, got, want, err)
			}
		}
		units := rapid.Int64Range(-1e17, 1e17).Draw(t, "units")
		scale := rapid.IntRange(0, 18).Draw(t, "scale")
		plain := decimalText(units, scale)
		shortest := plain
		if scale > 0 {
			shortest = strings.TrimRight(strings.TrimRight(plain, "0"), ".")
		}
		if shortest == "-0" {
			shortest = "0"
		}
		check("decimal", "number", plain, `"`+shortest+`"`)
		check("number", "number", fmt.Sprintf("%de-%d", units, scale), shortest)
		check("decimal", "number:,", grouped(plain, ".", ","), `"`+shortest+`"`)
		check("decimal", "number:.", grouped(plain, ",", "."), `"`+shortest+`"`)

		millis := rapid.Int64Range(firstMilli, lastMilli).Draw(t, "millis")
		at := time.UnixMilli(millis).UTC()
		want := `"` + model.FormatTime(at) + `"`
		rest := rapid.Int64Range(0, 999).Draw(t, "microseconds")
		check("date-time", "milliseconds", strconv.FormatInt(millis, 10), want)
		check("date-time", "microseconds", strconv.FormatInt(millis*1000+rest, 10), want)
		check("date-time", "seconds", decimalText(millis, 3), want)
		exact := at.Add(time.Duration(rest) * time.Microsecond)
		zone := time.FixedZone("", rapid.IntRange(-23*60, 23*60).Draw(t, "zone")*60)
		check("date-time", "date", exact.Format("2006-01-02 15:04:05.000000"), want)
		if year := at.In(zone).Year(); year >= 0 && year <= 9999 {
			for _, layout := range []string{"2006-01-02T15:04:05.000Z07:00", "2006/1/2 15:04:05.000000 -0700"} {
				check("date-time", "date", exact.In(zone).Format(layout), want)
			}
			check("date-time", "date:%A, %d %B %Y, %I.%M %S.%f %p %z", exact.In(zone).Format("Monday, 02 January 2006, 03.04 05.000000 PM -0700"), want)
		}
		day := at.Format(time.DateOnly)
		for layout, form := range map[string]string{"2006-01-02": "date", "20060102": "date", "2.1.2006": "date:%d.%m.%Y", "Jan _2, 2006": "date:%b %e, %Y", "01022006": "date:%m%d%Y"} {
			check("date", form, at.Format(layout), `"`+day+`"`)
		}
	})
}

// decimalText is a number with a point before its last digits.
func decimalText(units int64, scale int) string {
	digits := fmt.Sprintf("%0*d", scale+1, max(units, -units))
	text := digits[:len(digits)-scale]
	if scale > 0 {
		text += "." + digits[len(digits)-scale:]
	}
	if units < 0 {
		text = "-" + text
	}
	return text
}

// grouped writes a number with separators between groups of three digits.
func grouped(plain, separator, mark string) string {
	unsigned, negative := strings.CutPrefix(plain, "-")
	whole, fraction, pointed := strings.Cut(unsigned, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + separator + whole[at:]
	}
	if pointed {
		whole += mark + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
}

const measured = `
collections:
  people:
    attributes:
      name: {type: string, maxLength: 40}
      code: {type: string, maxLength: 40}
      price: {type: string, format: decimal, scale: 2}
      big: {type: integer}
      ratio: {type: number}
      good: {type: boolean}
      born: {type: string, format: date}
      seen_at: {type: string, format: date-time}
      contact: {type: string, format: email}
      boss_id: {references: people}
    required: [name]
    unique: [name]
`

func ofMeasured(t *testing.T) func(*plural.Config) {
	file, err := schema.Parse([]byte(measured))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *plural.Config) { c.Schema = file.Schema }
}

// TestParsedColumns: files as other programs write them, in each format, with what is wrong in a row reported together.
func TestParsedColumns(t *testing.T) {
	m := Mapping{
		Columns:   []string{"name=Who", "price=Preis", "boss_id=@name:Boss"},
		Constants: []string{"code=Z"},
		Parsed: []string{"price=number:,", "big=number", "ratio=number", "good=boolean", "born=date:%d.%m.%Y", "seen_at=microseconds",
			"*=null:NA", "big=null:-1", "big=null:", "boss_id=null:nobody"},
	}
	texts := map[Format]string{
		CSV: "Who,Preis,big,ratio,good,born,seen_at,Boss\n" +
			"A,\"1.234,5\",9007199254740993,NA,0,31.12.2024,1735639200123456,nobody\n" +
			"\"B\",NA,\"-1\",.5,YES,NA,\"NA\",A\n" +
			"C,\"1,2,3\",x,1,maybe,1.1.24,soon,nobody\n",
		NDJSON: `{"Who":"A","Preis":"1.234,5","big":9007199254740993,"ratio":"NA","good":0,"born":"31.12.2024","seen_at":1735639200123456,"Boss":"nobody"}` + "\n" +
			`{"Who":"B","Preis":null,"big":"","ratio":".5","good":true,"born":"NA","Boss":"A"}` + "\n" +
			`{"Who":"C","Preis":"1,2,3","big":"x","ratio":1,"good":"maybe","born":"1.1.24","seen_at":"soon","Boss":"nobody"}`,
	}
	lines := strings.Split(texts[NDJSON], "\n")
	texts[JSON] = "[\n" + strings.Join(lines, ",\n") + "]"
	for _, format := range Formats {
		eachStore(t, func(t *testing.T, w *dataset) {
			done, bad, err := w.mapped(texts[format], format, m, skip)
			same(t, err, nil)
			same(t, done, Imported{Created: 2, Bad: 1, Next: 4})
			line := map[Format]string{CSV: "4", NDJSON: "3", JSON: "4"}[format]
			same(t, bad, []string{line + `: price (column Preis) "1,2,3": Must be a number with a decimal comma, such as 1234,5 or 1.234,5, as --parse price=number:, says. ` +
				`big "x": Must be a number such as 1234.5, as --parse big=number says. good "maybe": Must be true or false, yes or no, 1 or 0, on or off, as --parse good=boolean says. ` +
				`born "1.1.24": Must be of the layout %d.%m.%Y, such as 31.12.2024, as --parse born=date:%d.%m.%Y says. ` +
				`seen_at "soon": Must be a number of microseconds since 1970, such as 1735639200000000, as --parse seen_at=microseconds says.`})
			same(t, w.staffOf("code", "price", "ratio", "good", "born", "seen_at"), "A Z 1234.50 <nil> false 2024-12-31 2024-12-31T10:00:00.123Z\nB Z <nil> 0.5 true <nil> <nil>")
			exported := w.export(NDJSON, "sort=name&fields=big")
			same(t, strings.Contains(exported, `"big":9007199254740993}`) && strings.Contains(exported, `"big":null}`), true)
			// The same rows again, as changes: what is converted is found by its key.
			done, bad, err = w.mapped(texts[format], format, m, skip, byKey("name"))
			same(t, err, nil)
			same(t, done, Imported{Upserted: 2, Bad: 1, Next: 4})
			same(t, len(bad), 1)
		}, ofMeasured(t))
	}
	eachStore(t, func(t *testing.T, w *dataset) {
		// A number of JSON keeps all its digits as a text.
		_, bad, err := w.mapped(`{"name":"D","code":12345678901234567890}`+"\n"+`{"name":"E","code":true}`+"\n"+`{"name":"F","code":[1]}`, NDJSON, Mapping{Parsed: []string{"code=text"}}, skip)
		same(t, err, nil)
		same(t, bad, []string{`3: code "[1]": Must be one value, as --parse code=text says, but is an array.`})
		same(t, w.staffOf("code"), "D 12345678901234567890\nE true")
		// A constant is written as a cell.
		_, _, err = w.mapped("name\nG\n", CSV, Mapping{Constants: []string{"price=1.000,5"}, Parsed: []string{"price=number:,"}})
		same(t, err, nil)
		same(t, strings.Contains(w.staffOf("price"), "G 1000.50"), true)
	}, ofMeasured(t))
}

// TestFormsAreSuggested: a bad row names the form that would read its value, and the row can be imported with it.
func TestFormsAreSuggested(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		for _, test := range []struct{ attribute, value, want string }{
			{"price", `1234.5`, `Must be a string such as "12.50", but is a number. --parse price=number reads it.`},
			{"price", `"+1"`, `Must be a decimal such as 12.50. --parse price=number reads it.`},
			{"price", `"1.234,50"`, `Must be a decimal such as 12.50. --parse price=number:, reads it.`},
			{"price", `"1,234.50"`, `Must be a decimal such as 12.50. --parse price=number:. reads it.`},
			{"price", `"1,234"`, `Must be a decimal such as 12.50. --parse price=number:. or --parse price=number:, reads it.`},
			{"price", `"N/A"`, `Must be a decimal such as 12.50. --parse price=null:N/A reads it.`},
			{"price", `"cheap"`, `Must be a decimal such as 12.50.`},
			{"big", `"007"`, `Must be an integer, but is a string. --parse big=number reads it.`},
			{"good", `1`, `Must be a boolean, but is a number. --parse good=boolean reads it.`},
			{"good", `"maybe"`, `Must be a boolean, but is a string.`},
			{"born", `"2024-12-31 00:00:00"`, `Must be a date such as 2026-11-14. --parse born=date reads it.`},
			{"seen_at", `"2024-12-31 10:00:00"`, `Must be a date-time such as 2026-11-14T09:30:00.123Z. --parse seen_at=date reads it.`},
			{"born", `"31.12.2024"`, `Must be a date such as 2026-11-14. --parse born=date:%d.%m.%Y reads it.`},
			{"born", `"3/4/2024"`, `Must be a date such as 2026-11-14. --parse born=date:%d/%m/%Y or --parse born=date:%m/%d/%Y reads it.`},
			{"born", `"12/31/2024"`, `Must be a date such as 2026-11-14. --parse born=date:%m/%d/%Y reads it.`},
			{"born", `"2024-12-31 10:00:00"`, `Must be a date such as 2026-11-14. It has a time, which an attribute with format: date-time keeps.`},
			{"seen_at", `"31.12.2024 10:00"`, `Must be a date-time such as 2026-11-14T09:30:00.123Z. --parse 'seen_at=date:%d.%m.%Y %H:%M' reads it.`},
			{"seen_at", `1735639200123`, `Must be a string, but is a number. --parse seen_at=milliseconds reads it.`},
			{"code", `12`, `Must be a string, but is a number. --parse code=text reads it.`},
			{"contact", `"nobody"`, `Must be an email address such as ada@example.com.`},
			{"boss_id", `12`, `Must be a string, but is a number.`},
		} {
			row := fmt.Sprintf(`{"name":"a","%s":%s}`, test.attribute, test.value)
			done, bad, _ := w.mapped(row, NDJSON, Mapping{})
			same(t, done, Imported{Bad: 1, Next: 1})
			same(t, bad, []string{"1: " + test.attribute + " " + test.value + ": " + test.want})
			_, hint, ok := strings.Cut(test.want, "--parse ")
			if flag, _, _ := strings.Cut(hint, " reads it"); ok {
				flag, _, _ = strings.Cut(flag, " or ")
				flag = strings.Trim(flag, "'")
				done, bad, err := w.mapped(row, NDJSON, Mapping{Parsed: []string{flag}}, dryRun)
				same(t, fmt.Sprint(done, bad, err), fmt.Sprint(Imported{Created: 1, Next: 2}, []string(nil), error(nil)))
			}
		}
	}, ofMeasured(t))
}

// TestParseRefuses: flags that cannot be meant are errors before anything is imported.
func TestParseRefuses(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		for _, test := range []struct {
			m    Mapping
			want string
		}{
			{Mapping{Parsed: []string{"big"}}, "--parse big: must be ATTRIBUTE=FORM"},
			{Mapping{Parsed: []string{"bg=number"}}, `--parse bg=number: there is no attribute "bg": the attributes are id, type, name, code, price, big, ratio, good, born, seen_at, contact, boss_id`},
			{Mapping{Parsed: []string{"big=number", "big=number:,"}}, "--parse big=number:,: big has another form by --parse big=number: give one of them, and null:TEXT for texts that mean null"},
			{Mapping{Parsed: []string{"*=number"}}, "--parse *=number: only null:TEXT can be for all attributes: name the attribute instead of *"},
			{Mapping{Parsed: []string{"created_at=seconds"}}, "--parse created_at=seconds: created_at is ignored: give --keep-timestamps"},
			{Mapping{Parsed: []string{"big=number"}}, `line 1: there is no column "big", which --parse converts`},
		} {
			_, _, err := w.mapped("name\na\n", CSV, test.m)
			same(t, strings.TrimPrefix(fmt.Sprint(err), "reading: "), test.want)
		}
		w.expect("")
	}, ofMeasured(t))
}

// TestAbsentMembers: a flag that names a member that no row has is an error, before anything of a short file is imported.
func TestAbsentMembers(t *testing.T) {
	m := Mapping{Columns: []string{"name=Nme"}, Parsed: []string{"big=number"}, Ignored: []string{"other"}}
	eachStore(t, func(t *testing.T, w *dataset) {
		for _, format := range []Format{NDJSON, JSON} {
			const row = `{"Name":"a","age":1}`
			done, _, err := w.mapped(map[Format]string{NDJSON: row + "\n" + row, JSON: "[" + row + "]"}[format], format, m)
			same(t, fmt.Sprint(err), `no row has the member "Nme", from which --map takes name (did you mean Name?)`+"\n"+
				`no row has the member "big", which --parse converts`+"\n"+`no row has the member "other", which --ignore names; the rows have Name, age`)
			same(t, done, Imported{Next: 1})
		}
		// One row is enough, and a file without rows has no members.
		_, _, err := w.mapped(`{"name":"a"}`+"\n"+`{"name":"b","big":"1"}`, NDJSON, Mapping{Parsed: []string{"big=number"}})
		same(t, err, nil)
		_, _, err = w.mapped("", NDJSON, m)
		same(t, err, nil)
		w.expect("a b")
		// Only the end of a long file says that no row has it.
		var long strings.Builder
		for n := range 1001 {
			fmt.Fprintf(&long, "{\"name\":\"n%d\"}\n", n)
		}
		done, _, err := w.mapped(long.String(), NDJSON, Mapping{Ignored: []string{"other"}})
		same(t, fmt.Sprint(err), `no row has the member "other", which --ignore names; the rows have name`)
		same(t, done, Imported{Created: 1000, Next: 1001})
	}, ofMeasured(t))
}
