package move

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// Form is a way to write values that --parse converts to those of an attribute.
type Form struct {
	Name     string
	Argument string // as the documentation shows it; empty: the form takes none
	Fits     string // the attributes that can have it
	Reads    string // for users

	optional bool // the argument can be left out
	fits     func(client.Attribute) bool
	// reader makes the reader for an attribute. Its error fits after "the argument of the form must be".
	reader func(argument string, a client.Attribute) (reader, error)
}

// reader appends the value of a text as JSON. What it says of a wrong one fits after "Must be".
type reader func(body []byte, text string) (extended []byte, expected string)

// nullForm is the form of texts that mean null. Each attribute can have several, beside another form.
const nullForm = "null"

// Forms are all there are.
var Forms = []Form{
	{Name: "number", Argument: "MARK", optional: true, Fits: "integers, numbers, decimals", fits: isNumeric, reader: numberReader,
		Reads: "007, +1.5e3; with number:, a decimal comma as in 1.234,5; with number:. a point as in 1,234.5"},
	{Name: "boolean", Argument: "TRUE/FALSE", optional: true, Fits: "booleans", fits: hasType("boolean"), reader: booleanReader,
		Reads: "true/false, yes/no, 1/0, on/off, t/f, y/n, in any case; or the two given texts"},
	{Name: "date", Argument: "LAYOUT", optional: true, Fits: "dates, date-times", fits: isDated, reader: dateReader,
		Reads: "2024-12-31, 2024/12/31, 20241231, 2024-12-31 10:00:00.123456+01:00; or a layout of strptime, as in date:%d.%m.%Y"},
	{Name: "seconds", Fits: "dates, date-times", fits: isDated, reader: sinceReader("seconds", 1), Reads: "seconds since 1970 in UTC, also with a fraction"},
	{Name: "milliseconds", Fits: "dates, date-times", fits: isDated, reader: sinceReader("milliseconds", 1e3), Reads: "milliseconds since 1970"},
	{Name: "microseconds", Fits: "dates, date-times", fits: isDated, reader: sinceReader("microseconds", 1e6), Reads: "microseconds since 1970"},
	{Name: "text", Fits: "strings", fits: isText, reader: textReader, Reads: "a number or a boolean of JSON, with all its digits"},
	{Name: nullForm, Argument: "TEXT", Fits: "all attributes", Reads: "the text as null; may be repeated, also beside another form"},
}

// Usage is how the form is written in a flag.
func (f Form) Usage() string {
	switch {
	case f.Argument == "":
		return f.Name
	case f.optional:
		return f.Name + "[:" + f.Argument + "]"
	}
	return f.Name + ":" + f.Argument
}

// formHints are the forms, by the words of others.
var formHints = suggest.Hints{
	"decimal numeric integer int float double money": "write number, which reads integers and decimals",
	"bool yesno": "write boolean",
	"datetime timestamp time iso iso8601 rfc3339":            "write date, which reads date-times too",
	"s sec second epoch unix unixtime posix":                 "write seconds, milliseconds or microseconds",
	"ms milli millis millisecond":                            "write milliseconds",
	"us usec micro micros microsecond":                       "write microseconds",
	"string str varchar":                                     "write text",
	"na n/a nan nil none nul nulls empty missing - \\n #n/a": "write null:TEXT for a text that means null",
}

func hasType(name string) func(client.Attribute) bool {
	return func(a client.Attribute) bool { return a.Type == name }
}

func isDecimal(a client.Attribute) bool { return a.Format == string(model.Decimal) }

func isNumeric(a client.Attribute) bool {
	return a.Type == "integer" || a.Type == "number" || isDecimal(a)
}

func isDated(a client.Attribute) bool {
	return a.Format == string(model.Date) || a.Format == string(model.DateTime)
}

func isText(a client.Attribute) bool {
	return a.Type == "string" && a.References == "" && slices.Contains([]string{"", string(model.Email), string(model.URI)}, a.Format)
}

// conversion converts the values of an attribute.
type conversion struct {
	nulls []string
	flag  string // that names the form
	read  reader // nil: no form
}

// every is the attribute of a --parse flag that means all.
const every = "*"

// parse applies ATTRIBUTE=FORM.
func (c *Columns) parse(flag, text string) error {
	name, form, ok := strings.Cut(text, "=")
	if !ok || name == "" || form == "" {
		return fmt.Errorf("%s: must be ATTRIBUTE=FORM", flag)
	}
	if strings.HasPrefix(form, "%") {
		return fmt.Errorf("%s: a layout is the argument of the form date: write %s=date:%s", flag, name, form)
	}
	form, argument, given := strings.Cut(form, ":")
	at := slices.IndexFunc(Forms, func(f Form) bool { return f.Name == form })
	if at < 0 {
		return fmt.Errorf("%s: there is no form %q%s", flag, form, instead(form))
	}
	f := Forms[at]
	if name == every && f.Name != nullForm {
		return fmt.Errorf("%s: only null:TEXT can be for all attributes: name the attribute instead of %s", flag, every)
	}
	attribute, err := c.find(flag, name)
	switch {
	case name != every && err != nil:
		return err
	case isTime(name) && !c.times:
		return fmt.Errorf("%s: %s is ignored: give --keep-timestamps", flag, name)
	case given && f.Argument == "":
		return fmt.Errorf("%s: the form %s takes no argument: write %s=%s", flag, form, name, form)
	case !given && f.Argument != "" && !f.optional:
		return fmt.Errorf("%s: write %s=%s", flag, name, f.Usage())
	}
	to := c.conversions[name]
	if to == nil {
		to = &conversion{}
		c.conversions[name] = to
	}
	switch {
	case f.Name == nullForm:
		to.nulls = append(to.nulls, argument)
		return nil
	case !f.fits(attribute):
		return fmt.Errorf("%s: the form %s is for %s, and %s is %s%s", flag, form, f.Fits, name, suggest.Article(typeName(attribute)), fitting(attribute))
	case to.read != nil:
		return fmt.Errorf("%s: %s has another form by %s: give one of them, and null:TEXT for texts that mean null", flag, name, to.flag)
	case given && argument == "":
		return fmt.Errorf("%s: nothing follows the colon: write %s=%s", flag, name, f.Usage())
	}
	to.flag = flag
	if to.read, err = f.reader(argument, attribute); err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// instead says what to write in place of an unknown form.
func instead(form string) string {
	if hint := formHints.Find(form); hint != "" {
		return ": " + hint
	}
	names := make([]string, len(Forms))
	for i, f := range Forms {
		names[i] = f.Name
	}
	return suggest.DidYouMean(form, names) + usages(Forms)
}

// fitting lists the forms that an attribute can have.
func fitting(a client.Attribute) string {
	return usages(slices.DeleteFunc(slices.Clone(Forms), func(f Form) bool { return f.Name != nullForm && !f.fits(a) }))
}

func usages(forms []Form) string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.Usage()
	}
	return ": use " + suggest.OneOf(names)
}

// typeName is the type of an attribute as users know it.
func typeName(a client.Attribute) string {
	switch {
	case a.References != "":
		return "reference"
	case isDated(a) || isDecimal(a):
		return a.Format
	}
	return a.Type
}

// isNull reports whether a text of an attribute means null.
func (c *Columns) isNull(attribute, text string) bool {
	for _, name := range []string{attribute, every} {
		if to := c.conversions[name]; to != nil && slices.Contains(to.nulls, text) {
			return true
		}
	}
	return false
}

// reads returns the conversion of an attribute that has a form, or nil.
func (c *Columns) reads(attribute string) *conversion {
	if to := c.conversions[attribute]; to != nil && to.read != nil {
		return to
	}
	return nil
}

// append appends the value of a text as JSON.
func (to *conversion) append(body []byte, text string) ([]byte, error) {
	extended, expected := to.read(body, text)
	if expected != "" {
		return nil, &misread{value: text, reason: fmt.Sprintf("Must be %s, as %s says.", expected, to.flag)}
	}
	return extended, nil
}

// misread is the error of a value that does not have the form of its attribute. The rest of the row is read, so that all
// are reported together.
type misread struct{ value, reason string }

func (e *misread) Error() string { return e.reason }

// isMisread notes a value that does not have the form of its attribute.
func (r *Row) isMisread(err error, attribute string) bool {
	var wrong *misread
	if !errors.As(err, &wrong) {
		return false
	}
	value, _ := jsontext.AppendQuote(nil, wrong.value) // of valid UTF-8
	reason := attribute + " " + shorten(string(value)) + ": " + wrong.reason
	if r.Bad != nil {
		reason = r.Bad.Error() + " " + reason
	}
	r.Bad = errors.New(reason)
	return true
}

// convert is a value of JSON as its attribute has it: null if it means null, and converted if the attribute has a form.
func (c *Columns) convert(attribute string, value jsontext.Value) (jsontext.Value, error) {
	if len(c.conversions) == 0 {
		return value, nil
	}
	text := string(value)
	if value.Kind() == '"' {
		unquoted, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return nil, err
		}
		text = string(unquoted)
	}
	to := c.reads(attribute)
	switch kind := value.Kind(); {
	case kind == 'n':
		return value, nil
	case c.isNull(attribute, text):
		return jsontext.Value("null"), nil
	case to == nil:
		return value, nil
	case kind == '{' || kind == '[':
		return nil, &misread{text, fmt.Sprintf("Must be one value, as %s says, but is %s.", to.flag, map[jsontext.Kind]string{'{': "an object", '[': "an array"}[kind])}
	}
	return to.append(nil, text)
}

// nullWords are texts that other programs write for null.
var nullWords = []string{"NA", "N/A", "NULL", "nan", "None", "nil", `\N`, "-", "."}

// formOf says which form would read a value that the server has refused; nothing if none would.
func (c *Columns) formOf(attribute string, value jsontext.Value, wrong *problem.Error) string {
	if c == nil || value == nil || wrong.Code != problem.CodeType && wrong.Code != problem.CodeFormat || c.reads(attribute) != nil {
		return ""
	}
	a, err := c.find("", attribute)
	if err != nil {
		return ""
	}
	text := string(value)
	if value.Kind() == '"' {
		unquoted, _ := jsontext.AppendUnquote(nil, value) // which is JSON
		text = string(unquoted)
	}
	var reading []string
	for _, form := range suggested {
		name, argument, _ := strings.Cut(form, ":")
		f := Forms[slices.IndexFunc(Forms, func(f Form) bool { return f.Name == name })]
		if !f.fits(a) || name == "text" && value.Kind() == '"' { // which is a text already
			continue
		}
		read, _ := f.reader(argument, a) // these are right
		if _, expected := read(nil, text); expected == "" {
			reading = append(reading, form)
		}
	}
	switch _, hasTime := parseUsual(text); {
	case slices.ContainsFunc(nullWords, func(word string) bool { return strings.EqualFold(word, text) }):
		reading = []string{nullForm + ":" + text}
	case len(reading) > 0 && !strings.Contains(reading[0], ":"):
		reading = reading[:1]
	case len(reading) == 0 && hasTime && a.Format == string(model.Date):
		return " It has a time, which an attribute with format: date-time keeps."
	case len(reading) == 0:
		return ""
	}
	for n, form := range reading {
		reading[n] = "--parse " + attribute + "=" + form
		if strings.Contains(form, " ") {
			reading[n] = "--parse '" + attribute + "=" + form + "'"
		}
	}
	return " " + strings.Join(reading, " or ") + " reads it."
}

// suggested are the forms that would read a value, the likeliest first. Of those with an argument, several can.
var suggested = []string{"number", "boolean", "date", "seconds", "milliseconds", "microseconds", "text", "number:.", "number:,",
	"date:%d.%m.%Y", "date:%d.%m.%Y %H:%M", "date:%d.%m.%Y %H:%M:%S", "date:%d/%m/%Y", "date:%m/%d/%Y"}
