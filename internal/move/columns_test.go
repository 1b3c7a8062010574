package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/schema"
)

const staff = `
collections:
  people:
    attributes:
      name: {type: string, maxLength: 20}
      email: {type: string, maxLength: 100}
      age: {type: integer, minimum: 0}
      good: {type: boolean}
      team_id: {references: teams}
      desk_id: {references: desks}
      boss_id: {references: people}
    required: [name]
    unique: [email]
  teams:
    attributes:
      key: {type: string, maxLength: 100}
      city: {type: string, maxLength: 100}
      founded: {type: string, format: date}
    unique: [key]
  desks:
    attributes:
      number: {type: integer}
    unique: [number]
`

// ofStaff is a server with people, their teams and desks.
func ofStaff(t *testing.T) func(*plural.Config) {
	file, err := schema.Parse([]byte(staff))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *plural.Config) { c.Schema = file.Schema }
}

// create creates resources, and returns their ids.
func (w *dataset) create(collection, body string) (ids []string) {
	w.t.Helper()
	answer, err := w.client.Do(context.Background(), post(collection, body))
	if err != nil {
		w.t.Fatal(err)
	}
	var created struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(answer.Body, &created); err != nil {
		w.t.Fatal(err)
	}
	for _, each := range created.Data {
		ids = append(ids, each.ID)
	}
	return ids
}

// mapped imports a text with a mapping.
func (w *dataset) mapped(text string, format Format, m Mapping, change ...func(*Import)) (done Imported, bad []string, err error) {
	w.t.Helper()
	columns := ColumnsOf(w.people.Attributes)
	if err := columns.Map(context.Background(), w.client, w.people, m); err != nil {
		return done, nil, err
	}
	return w.takeColumns(text, format, columns, change...)
}

// staffOf lists the people: name, and the attributes that are asked for. It sorts them by name: ids of
// different imports may be of the same millisecond.
func (w *dataset) staffOf(attributes ...string) string {
	w.t.Helper()
	var people []string
	for line := range strings.Lines(w.export(NDJSON, "")) {
		var person map[string]any
		if err := json.Unmarshal([]byte(line), &person); err != nil {
			w.t.Fatal(err)
		}
		shown := fmt.Sprint(person["name"])
		for _, name := range attributes {
			shown += fmt.Sprint(" ", person[name])
		}
		people = append(people, shown)
	}
	slices.Sort(people)
	return strings.Join(people, "\n")
}

// TestMappedColumns: the columns of a file may have other names than the attributes, in each format.
func TestMappedColumns(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		for _, format := range Formats {
			text := map[Format]string{
				CSV:    "Full Name,E-mail,Shoe\nAda,\"a,CSV\",39\n\"Grace \"\"G\"\"\",,40\n",
				NDJSON: "{\"Full Name\":\"Ada\",\"E-mail\":\"a,NDJSON\",\"Shoe\":39}\n{\"Full \\u004eame\":\"Grace \\\"G\\\"\",\"E-mail\":null}\n",
				JSON:   `[{"Full Name":"Ada","E-mail":"a,JSON","Shoe":[1]},{"E-mail":null,"Full Name":"Grace \"G\""}]`,
			}[format]
			done, bad, err := w.mapped(text, format, Mapping{Columns: []string{"name=Full Name", "email=E-mail"}, Constants: []string{"age=36", "good=TRUE"}, Ignored: []string{"Shoe"}})
			same(t, done, Imported{Created: 2, Next: 3})
			same(t, bad, []string(nil))
			same(t, err, nil)
		}
		same(t, w.staffOf("email", "age", "good"), "Ada a,CSV 36 true\nAda a,JSON 36 true\nAda a,NDJSON 36 true"+strings.Repeat("\nGrace \"G\" <nil> 36 true", 3))
		// What the server refuses is reported with the column of the file.
		_, bad, _ := w.mapped("Full Name,Years\nAda,-1\n", CSV, Mapping{Columns: []string{"name=Full Name", "age=Years"}})
		same(t, bad, []string{"2: age (column Years) -1: Must be at least 0."})
		// Names can be exchanged.
		_, _, err := w.mapped("name,email\nx,y\n", CSV, Mapping{Columns: []string{"name=email", "email=name"}})
		same(t, err, nil)
		same(t, strings.Contains(w.staffOf("email"), "\ny x"), true)
	}, ofStaff(t))
}

// TestMappingRefuses: what cannot be meant is an error before anything is imported, or of the row.
func TestMappingRefuses(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		w.create("teams", `[{"key":"WEB","city":"Bonn"},{"key":"OPS","city":"Bonn"}]`)
		for _, test := range []struct {
			text string
			m    Mapping
			want string
		}{
			{"name\na\n", Mapping{Columns: []string{"name"}}, "--map name: must be ATTRIBUTE=COLUMN"},
			{"name\na\n", Mapping{Columns: []string{"name="}, Constants: []string{"=x"}}, "--map name=: must be ATTRIBUTE=COLUMN\n--set =x: must be ATTRIBUTE=VALUE"},
			{"name\na\n", Mapping{Columns: []string{"nme=name"}}, "--map nme=name: there is no attribute \"nme\": the attributes are id, type, name, email, age, good, team_id, desk_id, boss_id"},
			{"name\na\n", Mapping{Columns: []string{"name=x", "name=y"}}, "--map name=y: the attribute name is given twice by --map and --set"},
			{"name\na\n", Mapping{Columns: []string{"name=x", "email=x"}}, "--map email=x: the column x is already name"},
			{"name\na\n", Mapping{Columns: []string{"name=x"}, Ignored: []string{"x"}}, "--ignore x: --map imports this column as name"},
			{"name\na\n", Mapping{Constants: []string{"id=01936f2e-7d3c-7a4b-9c5d-0123456789ab"}}, "--set id=01936f2e-7d3c-7a4b-9c5d-0123456789ab: every row needs its own id"},
			{"name\na\n", Mapping{Columns: []string{"team_id=@key"}}, "--map team_id=@key: a reference must be @KEY:… with a unique attribute of teams, such as team_id=@name:…"},
			{"name\na\n", Mapping{Columns: []string{"team_id=@nam:x"}}, "--map team_id=@nam:x: teams has no attribute \"nam\": it has id, key, city, founded"},
			{"name\na\n", Mapping{Columns: []string{"team_id=@founded:x"}}, "--map team_id=@founded:x: teams cannot be found by founded: use an attribute that is a string or an integer"},
			{"name\na\n", Mapping{Constants: []string{"team_id=@key:web"}}, "--set team_id=@key:web: there is no resource in teams with the key \"web\""},
			{"name\na\n", Mapping{Constants: []string{"team_id=@city:Bonn"}}, "--set team_id=@city:Bonn: several resources of teams have the city \"Bonn\": use an attribute that is unique"},
			{"name\na\n", Mapping{Constants: []string{"desk_id=@number:x"}}, "--set desk_id=@number:x: \"x\" must be an integer, as number of desks is"},
			{"name\na\n", Mapping{Columns: []string{"email=E-mail"}, Ignored: []string{"Age"}}, "line 1: there is no column \"Age\", which --ignore names (did you mean name?)\nline 1: there is no column \"E-mail\", from which --map takes email"},
			{"name,Full\na,b\n", Mapping{Columns: []string{"name=Full"}}, "line 1: the columns name and Full are both name: leave out one of them, or use --ignore"},
			{"name,age\na,1\n", Mapping{Constants: []string{"age=2"}}, "line 1: the column age is in the file, but --set gives age: leave out one of them, or use --ignore"},
			{"name,Shoe Size\na,b\n", Mapping{}, "line 1: there is no attribute \"Shoe Size\": the attributes are id, type, name, email, age, good, team_id, desk_id, boss_id; use --map for a column with another name, or --ignore"},
		} {
			_, _, err := w.mapped(test.text, CSV, test.m)
			same(t, strings.TrimPrefix(fmt.Sprint(err), "reading: "), test.want)
		}
		_, bad, err := w.mapped(`[{"name":"a","Full":"b"},{"Full":"b","age":1},{"Full":"c","Team":7}]`, JSON, Mapping{Columns: []string{"name=Full", "team_id=@key:Team"}, Constants: []string{"age=2"}}, skip)
		same(t, bad, []string{"1: the columns name and Full are both name: leave out one of them, or use --ignore",
			"1: the column age is in the file, but --set gives age: leave out one of them, or use --ignore",
			"1: team_id (column Team): 7 must be a string, as key of teams is"})
		same(t, err, nil)
		w.expect("")
	}, ofStaff(t))
}

// TestReferencesByKey: references are found by a unique attribute, with few requests. Those that are not
// found are bad rows.
func TestReferencesByKey(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		keys := []string{`comma, "quote" & \\ = ?`, "Ünï", "c"}
		for n := range 600 {
			keys = append(keys, fmt.Sprint("T", n))
		}
		teams := make([]map[string]string, len(keys))
		for n, key := range keys {
			teams[n] = map[string]string{"key": key}
		}
		body, _ := json.Marshal(teams) // of strings, which never fails
		ids := w.create("teams", string(body))
		desks := w.create("desks", `[{"number":7},{"number":-8}]`)
		var text strings.Builder
		var want []string
		text.WriteString("name,Team,Desk\n")
		for n := range 1500 {
			fmt.Fprintf(&text, "%d,\"%s\",%s\n", n, strings.ReplaceAll(keys[n%len(keys)], `"`, `""`), []string{"7", "-8", "007", ""}[n%4])
			want = append(want, fmt.Sprint(n, " ", ids[n%len(keys)], " ", []any{desks[0], desks[1], desks[0], nil}[n%4]))
		}
		slices.Sort(want)
		m := Mapping{Columns: []string{"team_id=@key:Team", "desk_id=@number:Desk"}}
		w.gets.Store(0)
		done, bad, err := w.mapped(text.String(), CSV, m)
		same(t, done, Imported{Created: 1500, Next: 1501})
		same(t, bad, []string(nil))
		same(t, err, nil)
		if gets := w.gets.Load(); gets > 8 { // the collections, 603 keys in arrays of 200, one of desks
			t.Errorf("there were %d requests", gets)
		}
		same(t, w.staffOf("team_id", "desk_id"), strings.Join(want, "\n"))
		// By id, and as a constant.
		done, _, err = w.mapped(`{"name":"b","Desk":"`+strings.ToUpper(desks[1])+`"}`, NDJSON, Mapping{Columns: []string{"desk_id=@id:Desk"}, Constants: []string{"team_id=@key:c"}})
		same(t, done, Imported{Created: 1, Next: 2})
		same(t, err, nil)
		same(t, strings.Contains(w.staffOf("team_id", "desk_id"), fmt.Sprintf("\nb %s %s", ids[2], desks[1])), true)
	}, ofStaff(t))
}

// TestMissingReferences: rows whose references are not found are bad, with line and column.
func TestMissingReferences(t *testing.T) {
	m := Mapping{Columns: []string{"team_id=@key:Team", "desk_id=@number:Desk"}}
	text := "name,Team,Desk\na,WEB,7\nb,web,8\nc,\"nul\x00\",\nd,,no\ne,WEB,\n,WEB,\nf," + strings.Repeat("x", 3000) + ",\n"
	missing := []string{
		`3: team_id (column Team): there is no resource in teams with the key "web"; desk_id (column Desk): there is no resource in desks with the number 8`,
		`4: team_id (column Team): there is no resource in teams with the key "nul\x00"`,
		`5: desk_id (column Desk): "no" must be an integer, as number of desks is`,
		`7: name: The attribute name is required and cannot be null.`,
		`8: team_id (column Team): there is no resource in teams with the key "` + strings.Repeat("x", 59) + "…",
	}
	eachStore(t, func(t *testing.T, w *dataset) {
		w.create("teams", `[{"key":"WEB"}]`)
		w.create("desks", `[{"number":7}]`)
		done, bad, err := w.mapped(text, CSV, m)
		same(t, done, Imported{Created: 1, Bad: 2, Next: 2})
		same(t, bad, missing[:2])
		same(t, errors.Is(err, ErrStopped), true)
		w.expect("a")
		for _, change := range []func(*Import){dryRun, skip} {
			done, bad, err = w.mapped(strings.Replace(text, "\na,", "\nA,", 1), CSV, m, skip, change)
			same(t, done, Imported{Created: 2, Bad: 5, Next: 8})
			same(t, bad, missing)
			same(t, err, nil)
		}
		w.expect("a A e")
	}, ofStaff(t))
}

// TestReferencesWithinAFile: a row may refer to a row before it, and to none behind it.
func TestReferencesWithinAFile(t *testing.T) {
	m := Mapping{Columns: []string{"boss_id=@email:Boss"}}
	text := "name,email,Boss\na,A,\nb,B,A\nc,C,A\nd,D,B\ne,E,F\nf,F,\ng,G,G\nh,H,E\n"
	eachStore(t, func(t *testing.T, w *dataset) {
		done, bad, err := w.mapped(text, CSV, m, dryRun)
		same(t, done, Imported{Created: 8, Next: 9}) // what is in the file is not known yet
		same(t, bad, []string(nil))
		same(t, err, nil)
		w.expect("")
		done, bad, err = w.mapped(text, CSV, m, skip)
		same(t, done, Imported{Created: 5, Bad: 3, Next: 9})
		nobody := ": boss_id (column Boss): there is no resource in people with the email "
		same(t, bad, []string{"6" + nobody + `"F"`, "8" + nobody + `"G"`, "9" + nobody + `"E"`})
		same(t, err, nil)
		w.expect("a b c d f")
		// Rows that are updated find each other too.
		done, bad, err = w.mapped("name,email,Boss\nd,D,A\nx,X,D\ny,Y,X\n", CSV, m, byKey("email"))
		same(t, done, Imported{Created: 1, Upserted: 2, Next: 4})
		same(t, bad, []string(nil))
		same(t, err, nil)
		ids := map[string]any{}
		for line := range strings.Lines(w.export(NDJSON, "")) {
			var person map[string]any
			if err := json.Unmarshal([]byte(line), &person); err != nil {
				t.Fatal(err)
			}
			ids[person["name"].(string)] = person["id"]
		}
		same(t, w.staffOf("boss_id"), fmt.Sprintf("a <nil>\nb %[1]s\nc %[1]s\nd %[1]s\nf <nil>\nx %[2]s\ny %[3]s", ids["a"], ids["d"], ids["x"]))
	}, ofStaff(t))
}

// TestKeepTimestamps: a server that accepts them stores created_at and updated_at of the rows.
func TestKeepTimestamps(t *testing.T) {
	const first, second = "01936f2e-7d3c-7a4b-9c5d-000000000001", "01936f2e-7d3c-7a4b-9c5d-000000000002"
	keep := func(text string, format Format, w *dataset) (Imported, []string, error) {
		columns := ColumnsOf(w.people.Attributes)
		columns.KeepTimestamps(nil)
		return w.takeColumns(text, format, columns, skip)
	}
	eachStore(t, func(t *testing.T, w *dataset) {
		done, bad, err := keep(`[{"id":"`+first+`","name":"a","created_at":"2020-02-29T12:00:00+01:00","updated_at":"2021-01-01T00:00:00.5Z"},
			{"id":"`+second+`","name":"b","created_at":"2020-01-01T00:00:00Z"},
			{"name":"c","created_at":"yesterday"},
			{"name":"d","created_at":"2020-01-02T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}]`, JSON, w)
		same(t, done, Imported{Created: 2, Bad: 2, Next: 5})
		same(t, bad, []string{`3: created_at "yesterday": Must be a date-time such as 2026-11-14T09:30:00.123Z.`, `4: updated_at "2020-01-01T00:00:00Z": updated_at must not be before created_at.`})
		same(t, err, nil)
		same(t, w.staffOf("created_at", "updated_at"), "a TIME TIME\nb TIME TIME")
		answer, err := w.client.Do(context.Background(), get("/people", "fields=name,created_at,updated_at"))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"data":[{"id":"` + first + `","type":"people","name":"a","created_at":"2020-02-29T11:00:00.000Z","updated_at":"2021-01-01T00:00:00.500Z"},` +
			`{"id":"` + second + `","type":"people","name":"b","created_at":"2020-01-01T00:00:00.000Z","updated_at":"2020-01-01T00:00:00.000Z"}]}`
		same(t, string(answer.Body), want)
		// A file that has them in cells, where an empty one is none.
		var file strings.Builder
		file.WriteString("id,name,created_at,updated_at\n")
		for n := range 3 {
			fmt.Fprintf(&file, "01936f2e-7d3c-7a4b-9c5d-00000000001%d,x%d,%s,%s\n", n, n, []string{"2019-01-01T00:00:00Z", "", ""}[n], []string{"", "2018-01-01T00:00:00Z", ""}[n])
		}
		done, _, err = keep(file.String(), CSV, w)
		same(t, done, Imported{Created: 3, Next: 4})
		same(t, err, nil)
		answer, err = w.client.Do(context.Background(), get("/people", "fields=created_at,updated_at&filter[name][in]=x0,x1"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(answer.Body), `{"data":[{"id":"01936f2e-7d3c-7a4b-9c5d-000000000010","type":"people","created_at":"2019-01-01T00:00:00.000Z","updated_at":"2019-01-01T00:00:00.000Z"},`+
			`{"id":"01936f2e-7d3c-7a4b-9c5d-000000000011","type":"people","created_at":"2018-01-01T00:00:00.000Z","updated_at":"2018-01-01T00:00:00.000Z"}]}`)
	}, func(c *plural.Config) { c.AcceptTimestamps = true })
	// Any other server refuses them.
	eachStore(t, func(t *testing.T, w *dataset) {
		_, bad, _ := keep(`{"name":"a","created_at":"2020-02-29T12:00:00Z"}`, NDJSON, w)
		same(t, bad, []string{`1: created_at "2020-02-29T12:00:00Z": created_at is set by the server. Leave it out.`})
		w.expect("")
	})
}

func post(collection, body string) client.Request {
	return client.Request{Method: http.MethodPost, Path: "/" + collection, Body: []byte(body)}
}

func get(path, query string) client.Request {
	return client.Request{Method: http.MethodGet, Path: path, Query: query}
}
