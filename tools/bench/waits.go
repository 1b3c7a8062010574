//go:build linux

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WaitPlan measures how long small writes wait for others on SQLite, which has one writer.
type WaitPlan struct {
	Module  string // directory of the module, from which the server is built
	Program string // plural program to measure instead
	Dir     string // where the database is made, temporary files otherwise
	Rows    int    // tasks that filters read, and children of the project that is deleted
}

// Waits is how long small writes took beside each request.
type Waits []waits

type waits struct {
	name   string // of the request
	status int
	took   time.Duration   // the request
	all    []time.Duration // the small writes
}

// neighbour is a request beside which small writes are sent.
type neighbour struct {
	name, method, path string
	body               []byte
}

const waitProject, waitNotes = "02000000-0000-7000-8000-000000000000", 8

// neighbours are the requests that are measured, one after the other.
func (w *WaitPlan) neighbours() []neighbour {
	comparisons := make([]string, 100) // of each row; no index finds what has one of them
	for i := range comparisons {
		operator := "starts_with"
		if i < 10 { // more are refused
			operator = "contains"
		}
		comparisons[i] = fmt.Sprintf("filter[any][%d][title][%s]=nobody%d", i, operator, i)
	}
	nothing := "/tasks?" + strings.Join(comparisons, "&")
	words := func(bytes, from int) []byte {
		var text strings.Builder
		for n := from; text.Len() < bytes; n++ {
			fmt.Fprintf(&text, "w%07x ", n*0x9e3779b1&0xfffffff)
		}
		return []byte(`{"text":"` + text.String() + `"}`)
	}
	return []neighbour{
		{"PATCH of a range in which nothing is", http.MethodPatch, nothing, []byte(`{"priority":1}`)},
		{"DELETE of the same", http.MethodDelete, nothing, nil},
		{"dry run of a deletion with all issues", http.MethodDelete, "/projects/" + waitProject + "?dry_run=true", nil},
		{"dry run of a transaction with that deletion", http.MethodPost, "/-/transaction?dry_run=true", []byte(`[{"method":"PATCH","path":"/notes/` + rowID(0) + `","body":{"text":"a"}},{"method":"DELETE","path":"/projects/` + waitProject + `"}]`)},
		{"900 KB of words, in 8 notes together", http.MethodPatch, "/notes?limit=8", words(900_000/waitNotes, 0)},
		{"900 KB of words in each of 8 notes", http.MethodPatch, "/notes?limit=8", words(900_000, 1<<20)},
		{"deletion with all issues", http.MethodDelete, "/projects/" + waitProject, nil},
	}
}

// Run measures.
func (w *WaitPlan) Run(ctx context.Context, progress io.Writer) (all Waits, err error) {
	p := &Plan{Module: w.Module, Dir: w.Dir, Users: minRows, Rows: w.Rows, Rounds: 1, Connections: 1, Children: w.Rows}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	binary := p.binary
	if w.Program != "" {
		binary = w.Program
	}
	if err := p.addPlural(ctx, PluralSQLite, binary, false); err != nil {
		return nil, err
	}
	s := p.servers[0]
	if err := s.start(ctx, s.full); err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "loading %d tasks, and as many issues of a project\n", w.Rows)
	if err := w.load(ctx, p, s); err != nil {
		return nil, err
	}
	for _, each := range append([]neighbour{{name: "nothing"}}, w.neighbours()...) {
		fmt.Fprintln(progress, each.name)
		got, err := w.beside(ctx, s, each)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", each.name, err)
		}
		slices.Sort(got.all)
		all = append(all, got)
	}
	return all, nil
}

// Print writes a table.
func (w Waits) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tstatus\ttakes\tsmall writes beside it\ttheir median\tthe longest")
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }
	for _, each := range w {
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%s\t%s\n", each.name, each.status, ms(each.took), len(each.all), ms(each.all[len(each.all)/2]), ms(each.all[len(each.all)-1]))
	}
	return table.Flush()
}

func (w *WaitPlan) load(ctx context.Context, p *Plan, s *server) error {
	if err := p.fill(ctx, s, 0, 0); err != nil {
		return err
	}
	project := fmt.Sprintf(`{"id":%q}`, waitProject)
	if err := s.send(ctx, http.MethodPost, "/projects", strings.NewReader(project), http.StatusCreated); err != nil {
		return err
	}
	if err := s.create(ctx, "issues", 0, w.Rows, func(row int) string { return issueBody(waitProject, row) }); err != nil {
		return err
	}
	return s.create(ctx, "notes", 0, waitNotes, func(row int) string { return fmt.Sprintf(`{"id":%q}`, rowID(row)) })
}

// beside sends small writes, one after the other, from before a request begins until it has ended. A request without a method is a
// pause.
func (w *WaitPlan) beside(ctx context.Context, s *server, request neighbour) (got waits, err error) {
	got.name = request.name
	ended := make(chan error, 1)
	begin := func() {
		begun := time.Now()
		var err error
		if request.method == "" {
			time.Sleep(time.Second)
		} else {
			got.status, err = exchange(ctx, s, request.method, request.path, request.body)
		}
		got.took = time.Since(begun)
		ended <- err
	}
	for serial := int64(0); ; serial++ {
		if serial == 10 {
			go begin()
		}
		begun := time.Now()
		status, err := exchange(ctx, s, http.MethodPatch, "/users/"+rowID(0), renameBody(nil, begun.UnixNano()))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("a small write got status %d", status)
		}
		if err != nil {
			return got, err
		}
		got.all = append(got.all, time.Since(begun))
		select {
		case err := <-ended:
			return got, err
		default:
		}
	}
}

// exchange sends a request, and returns the status of its response.
func exchange(ctx context.Context, s *server, method, path string, body []byte) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
