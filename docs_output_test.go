package plural_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ellipsis stands for any text in the output that a document shows.
const ellipsis = "…"

// folded is an output with each JSON value in one line, without white space outside strings, as servers send it.
func folded(lines []string) []string {
	var result []string
	depth := 0
	for _, line := range lines {
		if depth == 0 && !startsJSON.MatchString(line) {
			result = append(result, line)
			continue
		}
		prefix := ""
		if depth == 0 {
			if name, value, isData := strings.Cut(line, "data: "); isData && name == "" {
				prefix, line = "data: ", value
			}
			result = append(result, "")
		}
		compact, change := withoutSpace(line)
		result[len(result)-1] += prefix + compact
		depth += change
	}
	return result
}

var startsJSON = regexp.MustCompile(`^(data: )?\{`)

// withoutSpace removes white space outside strings, and counts the brackets that remain open. No string of a document
// continues in the next line.
func withoutSpace(line string) (compact string, open int) {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = r == '\\', r != '"'
		case r == '"':
			quoted = true
		case r == ' ' || r == '\t':
			continue
		case r == '{' || r == '[':
			open++
		case r == '}' || r == ']':
			open--
		}
		b.WriteRune(r)
	}
	return b.String(), open
}

const (
	uuidForm = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`
	timeForm = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
)

var (
	uuids = regexp.MustCompile(uuidForm)
	etags = regexp.MustCompile(`(\\?"[0-9a-z]+\.[0-9a-z]+\.)([0-9a-z]{8})(\\?")`)
)

// variables are the parts of an output that differ from run to run, as documents show them and as servers send them. Of an
// ETag, only the history differs.
var variables = []struct {
	shown *regexp.Regexp
	sent  string
}{
	{uuids, "(" + uuidForm + ")"},
	{regexp.MustCompile(`[0-9a-f]{8}-` + ellipsis), uuidForm},
	{regexp.MustCompile(timeForm + `|\d{4}-\d\d-\d\dT` + ellipsis), timeForm},
	{regexp.MustCompile(`\.` + writtenHistory + `\b`), `\.[0-9a-z]{8}`},
	{regexp.MustCompile(`^id: .*`), `id: [A-Za-z0-9_-]{20,}`},
	{regexp.MustCompile(`since=[A-Za-z0-9_-]{20,}`), `since=[A-Za-z0-9_-]{20,}`},
	{regexp.MustCompile(`^X-Request-Id: .*`), `X-Request-Id: [0-9a-f]{32}`},
	{regexp.MustCompile(ellipsis), `.*?`},
}

// pattern matches the lines that a line of a document stands for. Its groups are the ids of the line.
func pattern(line string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for line != "" {
		at, sent := []int{len(line), len(line)}, ""
		for _, v := range variables {
			if found := v.shown.FindStringIndex(line); found != nil && found[0] < at[0] && (b.Len() == 1 || !strings.HasPrefix(v.shown.String(), "^")) {
				at, sent = found, v.sent
			}
		}
		b.WriteString(regexp.QuoteMeta(line[:at[0]]) + sent)
		line = line[at[1]:]
	}
	return regexp.MustCompile(b.String() + "$")
}

// compare says how an answer differs from what a document shows, if it does.
func (c *console) compare(shown, got []string) string {
	if shownEnd, gotEnd := slices.Index(shown, ""), slices.Index(got, ""); shownEnd > 0 && gotEnd > 0 && strings.HasPrefix(shown[0], "HTTP/") {
		if problem := c.compareHeaders(shown[:shownEnd], got[:gotEnd]); problem != "" {
			return problem
		}
		shown, got = shown[shownEnd:], got[gotEnd:]
	}
	if len(shown) != len(got) {
		return fmt.Sprintf("the answer has %d lines, and the document %d:\n%s", len(got), len(shown), strings.Join(shown, "\n"))
	}
	for i := range shown {
		if problem := c.compareLine(shown[i], got[i]); problem != "" {
			return problem
		}
	}
	return ""
}

// compareHeaders compares a status line and headers. An ellipsis stands for those that are not shown, and no document shows a Date that is right.
func (c *console) compareHeaders(shown, got []string) string {
	withoutDate := func(lines []string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, "Date: ") })
	}
	shown, got = withoutDate(shown), withoutDate(got)
	if !slices.Contains(shown, ellipsis) && len(shown) != len(got) {
		return fmt.Sprintf("the answer has %d headers, and the document %d", len(got)-1, len(shown)-1)
	}
	for _, line := range shown {
		name, _, _ := strings.Cut(line, ":")
		at := slices.IndexFunc(got, func(header string) bool { return strings.HasPrefix(header, name) })
		switch {
		case line == ellipsis:
		case at < 0:
			return "the answer does not have the header\n" + line
		default:
			if problem := c.compareLine(line, got[at]); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// compareLine compares a line, and learns which ids stand for which.
func (c *console) compareLine(shown, got string) string {
	found := pattern(shown).FindStringSubmatch(got)
	if found == nil {
		return "the answer has the line\n" + got + "\nand the document\n" + shown
	}
	for i, written := range uuids.FindAllString(shown, -1) {
		received := found[i+1]
		w, r := slices.Index(c.written, written), slices.Index(c.received, received)
		if w != r {
			return fmt.Sprintf("the id %s stands for another one than before, in the line\n%s", written, got)
		}
		if w < 0 {
			c.written, c.received = append(c.written, written), append(c.received, received)
		}
	}
	return ""
}

func TestCompareOutput(t *testing.T) {
	const one, two = "01a1ddad-fb1b-7489-9de4-e2a9474ff425", "01a1ddad-fb43-758d-a42f-142895598528"
	for _, test := range []struct {
		shown, got string
		same       bool
	}{
		{`{"data": {"id": "` + one + `", "name": "a b"}}`, `{"data":{"id":"` + two + `","name":"a b"}}`, true},
		{`{"data": {"name": "a b"}}`, `{"data":{"name":"ab"}}`, false},
		{"{\"data\": [\n  {\"id\": \"01a1ddad-…\", …},\n  …\n]}", `{"data":[{"id":"` + two + `","x":1},{"id":"` + one + `"}]}`, true},
		{`{"data":[{"id":"` + one + `"},{"id":"` + one + `"}]}`, `{"data":[{"id":"` + one + `"},{"id":"` + two + `"}]}`, false},
		{`{"data":[{"id":"` + one + `"},{"id":"` + two + `"}]}`, `{"data":[{"id":"` + one + `"},{"id":"` + one + `"}]}`, false},
		{`{"at":"2026-11-15T…"}`, `{"at":"2027-01-01T00:00:00.000Z"}`, true},
		{`{"at":"2026-11-15T…"}`, `{"at":"never"}`, false},
		{"HTTP/1.1 200 OK\nX-Total-Count: 6\n…\n\n{}", "HTTP/1.1 200 OK\nVary: Accept\nX-Total-Count: 6\n\n{}", true},
		{"HTTP/1.1 200 OK\nX-Total-Count: 6\n\n{}", "HTTP/1.1 200 OK\nVary: Accept\nX-Total-Count: 6\n\n{}", false},
		{"HTTP/1.1 200 OK\nX-Total-Count: 5\n…\n\n{}", "HTTP/1.1 200 OK\nX-Total-Count: 6\n\n{}", false},
		{"event: synced\nid: Af98…\ndata: { }", "event: synced\nid: Af98yWawaH0NOzg88xnNAkRAW4bZwcV8\ndata: {}", true},
		{`Etag: "1.1.k3v9w2ab"`, `Etag: "1.1.aaaaaaaa"`, true},
		{`Etag: "1.1.k3v9w2ab"`, `Etag: "2.1.aaaaaaaa"`, false},
	} {
		problem := (&console{}).compare(folded(strings.Split(test.shown, "\n")), strings.Split(test.got, "\n"))
		if (problem == "") != test.same {
			t.Errorf("%s\n%s\ngave %q", test.shown, test.got, problem)
		}
	}
}
