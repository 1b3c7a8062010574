package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// moment is when a write was sent: before, during or after what happens beside the load.
type moment int32

const (
	before moment = iota
	during
	after
)

// write is one attempt to create a note.
type write struct {
	title          string
	sent, answered moment
	status         int
}

// load is some clients that each create one note after the other.
type load struct {
	now     atomic.Int32 // a moment
	warm    sync.WaitGroup
	done    sync.WaitGroup
	writes  [clients][]write
	failure atomic.Pointer[error] // the first answer that no server should give
}

const (
	clients   = 4
	warmUp    = 10                   // acknowledged writes of each client before anything happens
	coolDown  = 10                   // attempts of each client afterwards
	maxWrites = 1000                 // attempts of each client at most
	pause     = 3 * time.Millisecond // after each, so that others get to run on a small machine
)

// startLoad returns when all clients are writing.
func startLoad(t *testing.T, base string) *load {
	t.Helper()
	l := &load{}
	l.warm.Add(clients)
	for client := range clients {
		l.done.Go(func() { l.run(base, client) })
	}
	l.warm.Wait()
	return l
}

func (l *load) run(base string, client int) {
	acknowledged, afterwards := 0, 0
	warm := sync.OnceFunc(l.warm.Done)
	defer warm()
	for i := 0; i < maxWrites && afterwards < coolDown; i++ {
		w := write{title: fmt.Sprintf("client %d note %d", client, i), sent: moment(l.now.Load())}
		status, answer, err := post(base, fmt.Sprintf(`{"title":%q}`, w.title))
		switch {
		case err != nil:
			l.fail(fmt.Errorf("%s: %w", w.title, err))
			return
		case status == http.StatusCreated:
			if acknowledged++; acknowledged == warmUp {
				warm()
			}
		case status != http.StatusServiceUnavailable || !isFault(answer):
			l.fail(fmt.Errorf("%s: %d %s", w.title, status, answer))
			return
		}
		w.status, w.answered = status, moment(l.now.Load())
		l.writes[client] = append(l.writes[client], w)
		if w.sent == after {
			afterwards++
		}
		time.Sleep(pause)
	}
}

func (l *load) fail(err error) { l.failure.CompareAndSwap(nil, &err) }

func isFault(answer string) bool {
	var body struct {
		Errors []struct{ Code, Detail string }
	}
	return json.Unmarshal([]byte(answer), &body) == nil && len(body.Errors) > 0 && body.Errors[0].Code != ""
}

// beside runs something while the clients write, and waits for them.
func (l *load) beside(t *testing.T, what func()) {
	t.Helper()
	l.now.Store(int32(during))
	what()
	l.now.Store(int32(after))
	l.done.Wait()
	if err := l.failure.Load(); err != nil {
		t.Error(*err)
	}
}

// String counts the writes, for the log of a test.
func (l *load) String() string {
	var all [after + 1][2]int
	for _, writes := range l.writes {
		for _, w := range writes {
			all[w.sent][min(1, w.status-http.StatusCreated)]++
		}
	}
	return fmt.Sprintf("acknowledged/refused: before %v, during %v, after %v", all[before], all[during], all[after])
}

// check compares what is stored with what was answered: the notes of the beginning
// and everything acknowledged once, and nothing else but extra notes.
func (l *load) check(t *testing.T, titles map[string]int, extra ...string) {
	t.Helper()
	var lost, doubled, refused, unknown []string
	want := map[string]bool{}
	need := func(title string) {
		want[title] = true
		switch titles[title] {
		case 0:
			lost = append(lost, title)
		case 1:
		default:
			doubled = append(doubled, title)
		}
	}
	for i := range seedRows {
		need(seedTitle(i))
	}
	for _, title := range extra {
		need(title)
	}
	for _, writes := range l.writes {
		for _, w := range writes {
			if w.status == http.StatusCreated {
				need(w.title)
			} else if titles[w.title] > 0 {
				want[w.title] = true
				refused = append(refused, w.title)
			}
		}
	}
	for title := range titles {
		if !want[title] {
			unknown = append(unknown, title)
		}
	}
	report(t, "acknowledged and lost", lost)
	report(t, "stored more than once", doubled)
	report(t, "refused and stored", refused)
	report(t, "stored and never sent", unknown)
}

// checkCopy checks what was copied while the clients wrote: everything that was
// acknowledged before, and nothing that was refused.
func (l *load) checkCopy(t *testing.T, titles map[string]int) {
	t.Helper()
	var missing, wrong []string
	for i := range seedRows {
		if titles[seedTitle(i)] != 1 {
			missing = append(missing, seedTitle(i))
		}
	}
	for _, writes := range l.writes {
		for _, w := range writes {
			switch there := titles[w.title]; {
			case w.status == http.StatusCreated && w.answered == before && there == 0:
				missing = append(missing, w.title)
			case there > 1 || there == 1 && (w.status != http.StatusCreated || w.sent == after):
				wrong = append(wrong, w.title)
			}
		}
	}
	report(t, "missing in the copy", missing)
	report(t, "wrong in the copy", wrong)
}

// checkRestored checks a database that was replaced by its first notes while the
// clients wrote: of what each client was acknowledged, a first part is gone and all else is there.
func (l *load) checkRestored(t *testing.T, titles map[string]int) {
	t.Helper()
	var lost, refused []string
	for i := range seedRows {
		if titles[seedTitle(i)] != 1 {
			lost = append(lost, seedTitle(i))
		}
	}
	for _, writes := range l.writes {
		replaced := true // until a note is there that was sent later
		for _, w := range writes {
			there := titles[w.title] > 0
			switch {
			case w.status != http.StatusCreated:
				if there {
					refused = append(refused, w.title)
				}
			case there:
				replaced = false
			case !replaced || w.sent == after:
				lost = append(lost, w.title)
			}
		}
	}
	report(t, "acknowledged after the restore and lost", lost)
	report(t, "refused and stored", refused)
}

func report(t *testing.T, what string, titles []string) {
	t.Helper()
	if len(titles) > 0 {
		t.Errorf("%d %s: %q", len(titles), what, titles[:min(5, len(titles))])
	}
}
