package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/schema"
)

func TestImportStops(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		text := "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\n{\"name\":\"\",\"age\":-1}\n{\"name\":\"c\"}\n{\"nam\":1}\n"
		done, bad, err := w.take(text, NDJSON)
		same(t, done, Imported{Created: 2, Bad: 2, Next: 3})
		same(t, bad, []string{"4: name \"\": Must be at least 1 character long, but has 0. age -1: Must be at least 0.", "6: nam: The collection people has no attribute of this name. Did you mean name? name: The attribute name is required."})
		if !errors.Is(err, ErrStopped) {
			t.Errorf("got %v", err)
		}
		w.expect("a b")
		done, bad, err = w.take(strings.Replace(text, `"","age":-1`, `"x"`, 1), NDJSON, func(i *Import) { i.FromRow = done.Next })
		same(t, done, Imported{Created: 2, Bad: 1, Next: 5})
		same(t, len(bad), 1)
		same(t, err, ErrStopped)
		w.expect("a b x c")
		// A row that is no JSON ends it as well, and those ahead of it are in.
		done, bad, err = w.take("{\"name\":\"d\"}\n{\n{\"name\":\"e\"}\n", NDJSON)
		same(t, done, Imported{Created: 1, Bad: 1, Next: 2})
		same(t, bad, []string{"2: the JSON ends in the middle of a value"})
		same(t, err, ErrStopped)
		w.expect("a b x c d")
	})
}

func TestImportSkips(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		done, bad, err := w.take("name,email,age,boss,good\na,x,1,,\nb,x,2,,\nc,,-1,,\nd,"+strings.Repeat("1234567890", 10)+"1,no,,\ne,,5,01936f2e-7d3c-7a4b-9c5d-0123456789ab,\nf,y,,,\n,,,,maybe\n\n", CSV, skip)
		same(t, done, Imported{Created: 2, Bad: 5, Next: 8})
		same(t, bad, []string{`3: email "x": Another resource, stored or in this request, has this email.`, "4: age -1: Must be at least 0.",
			`5: email "12345678901234567890123456789012345678901234567890123456789…: Must be at most 100 characters long, but has 101. age "no": Must be an integer, but is a string.`,
			"6: boss: There is no resource 01936f2e-7d3c-7a4b-9c5d-0123456789ab in people.",
			`8: name: The attribute name is required and cannot be null. good "maybe": Must be a boolean, but is a string.`})
		same(t, err, nil)
		w.expect("a f")
	})
}

// TestManyBadRows: a response lists 100 errors, and all bad rows of an array are found and counted.
func TestManyBadRows(t *testing.T) {
	var text strings.Builder
	var want []string
	for n := range 900 {
		age := n
		if n > 0 && n%3 == 0 {
			age = -n
			want = append(want, fmt.Sprintf("%d: age %d: Must be at least 0.", n+1, age))
		}
		fmt.Fprintf(&text, "{\"name\":\"n%d\",\"age\":%d}\n", n, age)
	}
	eachStore(t, func(t *testing.T, w *dataset) {
		done, bad, err := w.take(text.String(), NDJSON, dryRun)
		same(t, err, nil)
		same(t, done, Imported{Created: 601, Bad: 299, Next: 901})
		same(t, bad, want)
		done, bad, err = w.take(text.String(), NDJSON)
		same(t, errors.Is(err, ErrStopped), true)
		same(t, done, Imported{Created: 3, Bad: 299, Next: 4})
		same(t, bad, want)
		w.expect("n0 n1 n2")
		done, bad, err = w.take(text.String(), NDJSON, skip, func(i *Import) { i.FromRow = 4 })
		same(t, err, nil)
		same(t, done, Imported{Created: 598, Bad: 299, Next: 901})
		same(t, bad, want)
	})
}

func TestBadIDs(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		for _, change := range []func(*Import){skip, func(i *Import) { skip(i); dryRun(i) }} {
			_, bad, err := w.take("{\"id\":\"1\",\"name\":\"a\"}\n{\"id\":\"\",\"name\":\"b\"}\n{\"id\":7,\"name\":\"c\"}\n", NDJSON, change)
			wrong := ": An id must be a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab."
			same(t, bad, []string{`1: id "1"` + wrong, `2: id ""` + wrong, "3: id 7: An id must be a string, but is a number."})
			same(t, err, nil)
		}
		w.expect("")
	})
}

// TestDryRun: it finds what the import would find, and writes nothing.
func TestDryRun(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		_, _, err := w.take(`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","name":"there","email":"there"}`, NDJSON)
		same(t, err, nil)
		text := `{"name":"a","email":"a"}
{"name":"b","email":"there"}
{"name":"c","email":"a"}
{"name":""}
{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","name":"d"}
{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ac","name":"e","boss":"01936f2e-7d3c-7a4b-9c5d-0123456789ad"}
{"name":"f"}
`
		taken := ": Another resource, stored or in this request, has this email."
		done, bad, err := w.take(text, NDJSON, skip, dryRun)
		same(t, done, Imported{Created: 3, Bad: 4, Next: 8})
		same(t, bad, []string{`2: email "there"` + taken, `3: email "a"` + taken, `4: name "": Must be at least 1 character long, but has 0.`,
			"5: id: Another resource, stored or in this request, has the id 01936f2e-7d3c-7a4b-9c5d-0123456789ab. Send another id, or none."})
		same(t, err, nil)
		done, _, err = w.take(text, NDJSON, dryRun) // all are reported, also if the import would end at the first
		same(t, done, Imported{Created: 3, Bad: 4, Next: 8})
		same(t, err, nil)
		done, _, err = w.take(`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","name":"d"}`, NDJSON, dryRun, func(i *Import) { i.OnConflict = ReplaceOnConflict })
		same(t, done, Imported{Replaced: 1, Next: 2})
		same(t, err, nil)
		w.expect("there")
	})
}

func TestConflicts(t *testing.T) {
	const first, second = "01936f2e-7d3c-7a4b-9c5d-000000000001", "01936f2e-7d3c-7a4b-9c5d-000000000002"
	eachStore(t, func(t *testing.T, w *dataset) {
		text := `[{"id":"` + first + `","name":"a","email":"a","age":1},{"id":"` + second + `","name":"b"}]`
		done, _, err := w.take(text, JSON)
		same(t, done, Imported{Created: 2, Next: 3})
		same(t, err, nil)
		before := w.export(NDJSON, "")
		again := `[{"id":"` + first + `","name":"A","email":"a"},{"name":"c"},{"id":"` + second + `","name":"B","created_at":"x"}]`
		on := func(policy OnConflict) func(*Import) { return func(i *Import) { i.OnConflict = policy } }
		done, bad, err := w.take(again, JSON)
		same(t, done, Imported{Bad: 2, Timed: true, Next: 1})
		same(t, len(bad), 2)
		same(t, err, ErrStopped)
		same(t, w.export(NDJSON, ""), before)
		done, _, err = w.take(again, JSON, on(SkipOnConflict))
		same(t, done, Imported{Created: 1, Skipped: 2, Timed: true, Next: 4})
		same(t, err, nil)
		w.expect("a b c")
		done, _, err = w.take(`[{"id":"`+first+`","name":"A","email":"a"},{"id":"`+second+`","name":"B"}]`, JSON, on(ReplaceOnConflict))
		same(t, done, Imported{Replaced: 2, Next: 3})
		same(t, err, nil)
		same(t, w.export(NDJSON, "limit=1"), `{"id":"`+first+`","type":"people","name":"A","email":"a","age":null,"good":true,"tags":null,"boss":null,"created_at":"TIME","updated_at":"TIME"}`+"\n")
		// What cannot be replaced is a bad row.
		done, bad, err = w.take(`[{"id":"`+second+`","name":"B","email":"a"},{"name":"x"}]`, JSON, on(ReplaceOnConflict), skip)
		same(t, done, Imported{Created: 1, Bad: 1, Next: 3})
		same(t, len(bad), 1)
		same(t, err, nil)
	})
}

// TestReplacingLater: in an asynchronous collection what exists is replaced by a server, and
// one that wants If-Match is told that any state will do.
func TestReplacingLater(t *testing.T) {
	const row = `{"id":"01936f2e-7d3c-7a4b-9c5d-000000000001","name":"a"}`
	replacing := func(i *Import) { i.OnConflict = ReplaceOnConflict }
	for setting, want := range map[string]Imported{"async": {Accepted: 1, Next: 2}, "require_if_match": {Replaced: 1, Next: 2}} {
		file, err := schema.Parse([]byte(people + "    " + setting + ": true\n"))
		if err != nil {
			t.Fatal(err)
		}
		eachStore(t, func(t *testing.T, w *dataset) {
			done, _, err := w.take(row, NDJSON, replacing)
			same(t, done, Imported{Created: 1, Next: 2})
			same(t, err, nil)
			done, bad, err := w.take(strings.Replace(row, `"a"`, `"b"`, 1), NDJSON, replacing)
			same(t, done, want)
			same(t, bad, []string(nil))
			same(t, err, nil)
		}, func(c *plural.Config) { c.Schema = file.Schema })
	}
}

// TestLostAnswers: a request whose answer is lost is sent again, and its rows are in once.
func TestLostAnswers(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		w.cut.Store(2)
		done, _, err := w.take("{\"name\":\"a\"}\n{\"name\":\"b\"}\n", NDJSON)
		same(t, done, Imported{Created: 2, Next: 3})
		same(t, err, nil)
		same(t, w.posts.Load(), 3)
		w.expect("a b")
		// When no answer comes at all, the first id tells what has become of the rows.
		w.cut.Store(100)
		done, _, err = w.take("{\"name\":\"c\"}\n{\"name\":\"d\"}\n", NDJSON)
		same(t, done, Imported{Next: 1})
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.From != 1 || unknown.To != 2 {
			t.Fatalf("got %v", err)
		}
		if _, err := client.Of[json.RawMessage](w.client, "people").Get(context.Background(), unknown.First); err != nil {
			t.Error(err)
		}
		w.expect("a b c d")
		// Ids of the file may have been there before, so nothing is claimed.
		w.cut.Store(1)
		_, _, err = w.take(`{"id":"01936f2e-7d3c-7a4b-9c5d-000000000001","name":"e"}`, NDJSON)
		same(t, err, "the connection was lost, and now rows 1 to 1 all exist: they were created then, or had been there before")
	})
}

// TestFullDisk: what is refused for want of room is surely not there, and is not sent again.
func TestFullDisk(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		text := strings.Repeat("{\"name\":\"a\"}\n", 2*batchRows)
		done, bad, err := w.take(text, NDJSON, func(i *Import) { i.Progress = func(Imported) { w.full.Store(true) } })
		same(t, done, Imported{Created: batchRows, Next: batchRows + 1})
		same(t, bad, []string(nil))
		same(t, err, "POST /people: 503 storage_full: There is no room left.")
		same(t, w.posts.Load(), 2)
		if errors.As(err, new(*UnknownError)) {
			t.Error("it is said not to be known")
		}
	})
}

// TestSlowRows: a row does not wait for the end of a file that comes slowly.
func TestSlowRows(t *testing.T) {
	delay := batchDelay
	batchDelay = 10 * time.Millisecond
	t.Cleanup(func() { batchDelay = delay })
	eachStore(t, func(t *testing.T, w *dataset) {
		in, out := io.Pipe()
		go io.WriteString(out, "{\"name\":\"a\"}\n")
		rows, err := NewReader(in, NDJSON, ColumnsOf(w.people.Attributes))
		if err != nil {
			t.Fatal(err)
		}
		stored := make(chan Imported, 4)
		run := &Import{Client: w.client, Collection: w.people, Rows: rows, OnError: StopOnError, OnConflict: FailOnConflict, Progress: func(done Imported) { stored <- done }}
		ended := make(chan error)
		go func() {
			_, err := run.Run(context.Background())
			ended <- err
		}()
		same(t, <-stored, Imported{Created: 1, Next: 2})
		w.expect("a")
		out.Close()
		same(t, <-ended, nil)
	})
}

// TestServerWithSmallLimits: a server that takes little at once gets little.
func TestServerWithSmallLimits(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		var text strings.Builder
		for i := range 100 {
			fmt.Fprintf(&text, "{\"name\":\"%d\",\"tags\":[%q]}\n", i, strings.Repeat("x", 100))
		}
		fmt.Fprintf(&text, "{\"name\":\"large\",\"tags\":[%q]}\n", strings.Repeat("x", 3000))
		done, bad, err := w.take(text.String(), NDJSON, skip)
		same(t, done, Imported{Created: 100, Bad: 1, Next: 102})
		same(t, bad, []string{"101: The body is too large. Send at most 2048 bytes."})
		same(t, err, nil)
		if names := w.names(); !strings.HasPrefix(names, "0 1 2 3 4 ") || !strings.HasSuffix(names, " 98 99") {
			t.Errorf("there are %s", names)
		}
	}, func(c *plural.Config) { c.MaxItems, c.MaxBody = 30, 2048 })
}

// TestLargeRows: no array is larger than what a server takes.
func TestLargeRows(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		var text strings.Builder
		for i := range 6 {
			fmt.Fprintf(&text, "{\"name\":\"%d\",\"tags\":[%q]}\n", i, strings.Repeat("x", 400<<10))
		}
		done, _, err := w.take(text.String(), NDJSON)
		same(t, done, Imported{Created: 6, Next: 7})
		same(t, err, nil)
		same(t, w.posts.Load(), 3)
		w.expect("0 1 2 3 4 5")
	})
}

// TestExportImportRoundTrip: what is exported, in whatever format, can be imported elsewhere, and is
// the same there: ids, order and values.
func TestExportImportRoundTrip(t *testing.T) {
	rows := `{"id":"01936f2e-7d3c-7a4b-9c5d-000000000001","name":"=1+1","email":"","age":-0,"good":null,"tags":[1.50,{"a":"b,\"c\""}]}
{"id":"01936f2e-7d3c-7a4b-9c5d-000000000002","name":"'=x","email":"line\r\nline\nline\rend","age":9223372036854775807,"good":false,"boss":"01936f2e-7d3c-7a4b-9c5d-000000000001"}
{"id":"01936f2e-7d3c-7a4b-9c5d-000000000003","name":" ä 😀 ","email":"\t\u001f\u2028"}
`
	eachStore(t, func(t *testing.T, w *dataset) {
		if _, _, err := w.take(rows, NDJSON); err != nil {
			t.Fatal(err)
		}
		want := w.export(NDJSON, "")
		for _, format := range Formats {
			other := newDataset(t, "sqlite:"+filepath.Join(t.TempDir(), "other.db"))
			done, bad, err := other.take(w.export(format, ""), format)
			same(t, done, Imported{Created: 3, Timed: true, Next: 4})
			same(t, bad, []string(nil))
			same(t, err, nil)
			same(t, other.export(NDJSON, ""), want)
		}
		same(t, w.export(NDJSON, "filter[good]=false&sort=-name&limit=1"), strings.SplitAfter(want, "\n")[1])
	})
}

func TestExportOfNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		same(t, w.export(NDJSON, ""), "")
		same(t, w.export(JSON, ""), "[]\n")
		same(t, w.export(CSV, ""), "id,type,name,email,age,good,tags,boss,created_at,updated_at\r\n")
	})
}

// TestImportsInOneMillisecond: an import continues after an earlier one, also if no time has passed since, or the clock
// went back.
func TestImportsInOneMillisecond(t *testing.T) {
	t.Cleanup(func() { now = time.Now })
	at := time.Now()
	now = func() time.Time { return at }
	eachStore(t, func(t *testing.T, w *dataset) {
		want := ""
		for i, name := range []string{"a", "c", "e", "g", "i"} {
			next := string(name[0] + 1)
			done, _, err := w.take("{\"name\":\""+name+"\"}\n{\"name\":\""+next+"\"}\n", NDJSON)
			same(t, done, Imported{Created: 2, Next: 3})
			same(t, err, nil)
			if want = strings.TrimSpace(want + " " + name + " " + next); i == 2 {
				at = at.Add(-time.Hour)
			}
		}
		w.expect(want)
	})
}

// TestMinter: ids go up, however many are made within a millisecond.
func TestMinter(t *testing.T) {
	var m minter
	now := time.UnixMilli(0x01936f2e7d3c)
	last := m.next(now)
	for range 10_000 {
		id := m.next(now)
		if id.Compare(last) <= 0 || id[6]>>4 != 7 || id[8]>>6 != 2 {
			t.Fatalf("%s follows %s", id, last)
		}
		last = id
	}
	if last.String()[:8] != "01936f2e" {
		t.Errorf("the last is %s", last)
	}
}
