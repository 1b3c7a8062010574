//go:build linux

package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

func TestMain(m *testing.M) {
	// The harness starts itself as the servers that it compares with.
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serveAsTold()
		return
	}
	os.Exit(pgtest.Run(m))
}

const handRows = 200

// rowJSON is a row as it is answered.
func rowJSON(row int) string {
	return fmt.Sprintf(`{"id":%q,"type":"users","name":%q,"email":%q,"active":%t,"created_at":%q,"updated_at":%q}`,
		rowID(row), rowName(row), rowEmail(row), rowActive(row), loadedAt, loadedAt)
}

func listJSON(from, to int, onlyActive bool) string {
	var rows []string
	for row := from; row < to; row++ {
		if rowActive(row) || !onlyActive {
			rows = append(rows, rowJSON(row))
		}
	}
	return `{"data":[` + strings.Join(rows, ",") + `]}`
}

func TestHandWrittenServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hand.db")
	if err := createHandSQLite(file, handRows); err != nil {
		t.Fatal(err)
	}
	sqlite, err := openHandSQLite(file)
	if err != nil {
		t.Fatal(err)
	}
	url := pgtest.URL(t)
	if err := createHandPostgres(t.Context(), url, handRows); err != nil {
		t.Fatal(err)
	}
	postgres, err := openHandPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]database{"sqlite": sqlite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			defer db.close()
			handler := newHandWritten(db)
			for _, c := range []struct{ path, want string }{
				{"/users/" + rowID(7), `{"data":` + rowJSON(7) + `}`},
				{"/users?limit=30", listJSON(0, 30, false)},
				{"/users?filter[active]&limit=30", listJSON(0, 60, true)},
				{"/users?offset=180&limit=30", listJSON(180, 200, false)},
				{"/users?limit=200", listJSON(0, 200, false)},
			} {
				if got := ask(handler, "GET", c.path, "", 200); got != c.want {
					t.Errorf("%s: got\n%s\nwant\n%s", c.path, got, c.want)
				}
			}
			ask(handler, "GET", "/users/"+rowID(handRows), "", 404)
			testHandWrites(t, handler)
		})
	}
}

var changing = regexp.MustCompile(`"(id|created_at|updated_at)":"[^"]*"`)

func testHandWrites(t *testing.T, handler http.Handler) {
	created := ask(handler, "POST", "/users", `{"name":"A \"b\"\n","email":"c@example.com","active":false}`, 201)
	const want = `{"data":{"id","type":"users","name":"A \u0022b\u0022\u000a","email":"c@example.com","active":false,"created_at","updated_at"}}`
	if got := changing.ReplaceAllString(created, `"$1"`); got != want {
		t.Errorf("created\n%s\nwant\n%s", got, want)
	}
	id := created[len(`{"data":{"id":"`):][:36]
	if got := ask(handler, "GET", "/users/"+id, "", 200); got != created {
		t.Errorf("got\n%s\nwant what was created:\n%s", got, created)
	}
	changed := ask(handler, "PATCH", "/users/"+rowID(8), `{"name":"Other"}`, 200)
	wantChanged := strings.Replace(`{"data":`+rowJSON(8)+`}`, rowName(8), "Other", 1)
	if got := changing.ReplaceAllString(changed, `"$1"`); got != changing.ReplaceAllString(wantChanged, `"$1"`) {
		t.Errorf("changed\n%s\nwant\n%s", changed, wantChanged)
	}
	if got := ask(handler, "GET", "/users/"+rowID(8), "", 200); got != changed {
		t.Errorf("got\n%s\nwant what was changed:\n%s", got, changed)
	}
}

// ask returns the body of an answer, or what is wrong with it.
func ask(handler http.Handler, method, path, body string, status int) string {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
	if recorder.Code != status {
		return fmt.Sprintf("status %d: %s", recorder.Code, recorder.Body)
	}
	return recorder.Body.String()
}

// The lengths that answers are held to are those of real ones.
func TestLengths(t *testing.T) {
	for _, active := range []bool{true, false} {
		row := map[bool]int{true: 4, false: 5}[active]
		if got, want := userLength(active), len(rowJSON(row)); got != want {
			t.Errorf("active %t: got %d, want %d", active, got, want)
		}
	}
	for _, c := range []struct {
		from, to   int
		onlyActive bool
	}{{0, 0, false}, {3, 4, true}, {3, 4, false}, {90, 120, false}, {0, 60, true}} {
		if got, want := listLength(c.from, c.to, c.onlyActive), len(listJSON(c.from, c.to, c.onlyActive)); got != want {
			t.Errorf("%v: got %d, want %d", c, got, want)
		}
	}
}
