package feed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
)

// TestOthersThatAreNotConcerned: a change of what a rule reads through a reference begins only those streams again whose
// resources it may concern: not those of callers for whom the rest of the rule decides, nor those of other parents or other
// resources.
func TestOthersThatAreNotConcerned(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		books := []model.ID{{15: 1}, {15: 2}}
		for i, book := range books {
			n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "open", "owner": "ada"})
			n.mustDo(t, http.MethodPost, n.notes, model.ID{15: byte(11 + i)}, map[string]any{"book_id": book.String(), "open": false})
		}
		n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 13}, map[string]any{"title": "public", "book_id": books[0].String(), "open": false})
		path := func(subject string) reads.Path {
			return reads.Path{Collection: n.notes, By: n.permit("member", subject)}
		}
		of := func(book model.ID) query.Filter {
			return query.Compare{Column: n.notes.Field("book_id").Column, Op: query.Equal, Value: model.IDValue(book)}
		}
		one, other, public := model.ID{15: 11}, model.ID{15: 12}, model.ID{15: 13}
		below := path("ada")
		below.Parent = &books[1]
		tests := []struct {
			name  string
			shape Shape
			want  string // the next event
		}{
			{"the owner", Shape{Path: path("ada")}, "reset"},
			{"somebody else", Shape{Path: path("eve")}, "updated"},
			{"the notes of the book", Shape{Path: path("ada"), Filter: of(books[0])}, "reset"},
			{"the notes of another book", Shape{Path: path("ada"), Filter: of(books[1])}, "updated"},
			{"another book or none", Shape{Path: path("ada"), Filter: query.Or{of(books[1]), query.IsNull{Column: n.notes.Field("book_id").Column}}}, "updated"},
			{"not the book", Shape{Path: path("ada"), Filter: query.Not{Filter: of(books[0])}}, "updated"},
			{"below another book", Shape{Path: below}, "updated"},
			{"a note of the book", Shape{Path: path("ada"), ID: &one}, "reset"},
			{"a note of another book", Shape{Path: path("ada"), ID: &other}, "updated"},
			{"a note that everybody sees", Shape{Path: path("ada"), ID: &public}, "updated"},
		}
		var streams []*Subscription
		for _, each := range tests {
			s := n.subscribe(t, each.shape, "")
			for lines := []string{""}; !strings.HasPrefix(lines[len(lines)-1], "synced"); {
				lines = next(t, s, 1)
			}
			idle(t, s)
			streams = append(streams, s)
		}
		n.mustDo(t, http.MethodPatch, n.books, books[0], map[string]any{"name": "closed"})
		for _, note := range []model.ID{other, public} {
			n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"open": true})
		}
		for i, each := range tests {
			got, _, _ := strings.Cut(next(t, streams[i], 1)[0], " {")
			streams[i].Close() // one that begins again would keep its slot
			if got != each.want {
				t.Errorf("%s: got %s, want %s", each.name, got, each.want)
			}
		}
	})
}
