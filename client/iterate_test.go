package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"pgregory.net/rapid"
)

// titles runs a loop to its end.
func titles(posts iter.Seq2[Post, error]) (found []string, err error) {
	for post, err := range posts {
		if err != nil {
			return found, err
		}
		found = append(found, post.Title)
	}
	return found, nil
}

// cutAnswer sends the start of an answer.
func cutAnswer(w http.ResponseWriter, forward func(http.ResponseWriter), part func(length int) int) {
	recorded := httptest.NewRecorder()
	forward(recorded)
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorded.Code)
	w.Write(recorded.Body.Bytes()[:part(recorded.Body.Len())])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// TestLoops compares loops in both directions with slices in memory, over a network that
// cuts lists anywhere, and with a server that gives long ones or pages only.
func TestLoops(t *testing.T) {
	for name, maxLimit := range map[string]int64{"streams": 0, "pages": 3} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, server string) { checkLoops(t, server) }, func(c *plural.Config) { c.MaxLimit = maxLimit })
		})
	}
}

func checkLoops(t *testing.T, server string) {
	ctx := context.Background()
	var cut atomic.Bool
	_, url := between(t, server, func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
		if !cut.Load() || rand.N(4) > 0 {
			forward(w)
			return
		}
		cutAnswer(w, forward, func(length int) int { return rand.N(length + 1) })
	})
	posts := client.Of[Post](connect(t, url, func(o *client.Options) { o.Retries, o.MaxWait = 50, 1 }), "posts")
	const total = 12
	var all []Post
	for i := range total {
		body := fmt.Sprint(i % 3)
		all = append(all, Post{Title: fmt.Sprintf("%02d", i), Body: &body})
	}
	all = must(posts.CreateMany(ctx, all))(t)
	cut.Store(true)
	rapid.Check(t, func(t *rapid.T) {
		model, given := slices.Clone(all), []params.Param{}
		if rapid.Bool().Draw(t, "filtered") {
			wanted := rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "body")
			given = append(given, params.Where("body").Is(wanted))
			model = slices.DeleteFunc(model, func(p Post) bool { return *p.Body != wanted })
		}
		if rapid.Bool().Draw(t, "sorted") {
			given = append(given, params.Sort("-body", "title"))
			slices.SortStableFunc(model, func(a, b Post) int { return cmpBodies(*b.Body, *a.Body) })
		}
		backward := rapid.Bool().Draw(t, "backward")
		start := 0
		if backward {
			start = len(model)
		}
		switch rapid.IntRange(0, 2).Draw(t, "start") {
		case 1:
			start = rapid.IntRange(0, len(model)+1).Draw(t, "offset")
			given = append(given, params.Offset(int64(start)))
		case 2:
			start = rapid.IntRange(0, len(model)-1).Draw(t, "cursor")
			given = append(given, params.Cursor(model[start].ID))
		}
		start = min(start, len(model))
		model = slices.Clone(model)
		if backward {
			model = model[:start]
			slices.Reverse(model)
		} else {
			model = model[start:]
		}
		if rapid.Bool().Draw(t, "limited") {
			limit := rapid.IntRange(0, total+1).Draw(t, "limit")
			given = append(given, params.Limit(int64(limit)))
			model = model[:min(limit, len(model))]
		}
		loop := posts.All(ctx, given...)
		if backward {
			loop = posts.Backward(ctx, given...)
		}
		var want []string
		for _, post := range model {
			want = append(want, post.Title)
		}
		if got, err := titles(loop); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v\nwant %q", got, err, want)
		}
	})
}

func cmpBodies(a, b string) int { return int(a[0]) - int(b[0]) }

// TestLoopAmongWriters: what a list is taken up behind may be deleted meanwhile.
func TestLoopAmongWriters(t *testing.T) {
	eachStore(t, func(t *testing.T, server string) {
		ctx := context.Background()
		var lists atomic.Int64
		_, url := between(t, server, func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
			if lists.Add(1) > 1 {
				forward(w)
				return
			}
			r.Header.Del("Accept-Encoding")
			cutAnswer(w, forward, func(length int) int { return length / 2 })
		})
		direct := client.Of[Post](connect(t, server), "posts")
		var values []Post
		for i := range 10 {
			values = append(values, Post{Title: fmt.Sprint(i)})
		}
		must(direct.CreateMany(ctx, values))(t)
		got := ""
		for post, err := range client.Of[Post](connect(t, url), "posts").All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got += post.Title
			must(direct.Delete(ctx, post.ID))(t)
		}
		if got != "0123456789" || lists.Load() != 2 {
			t.Errorf("got %q in %d lists", got, lists.Load())
		}
	})
}

// TestPagesAmongWriters: pages begin where the last one ended, whatever is deleted ahead of
// that, also if the loop began at an offset.
func TestPagesAmongWriters(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		var values []Post
		for i := range 10 {
			values = append(values, Post{Title: fmt.Sprint(i)})
		}
		must(posts.CreateMany(ctx, values))(t)
		got := ""
		for post, err := range posts.All(ctx, params.Offset(2)) {
			if err != nil {
				t.Fatal(err)
			}
			got += post.Title
			must(posts.Delete(ctx, post.ID))(t)
		}
		if got != "23456789" {
			t.Errorf("got %q", got)
		}
	}, func(c *plural.Config) { c.MaxLimit = 3 })
}

// TestLeavingALoopEndsTheStream: what is not wanted any more is not read.
func TestLeavingALoopEndsTheStream(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		must(posts.CreateMany(ctx, make([]Post, 2000)))(t)
		for _, loop := range []iter.Seq2[Post, error]{posts.All(ctx), posts.Backward(ctx)} {
			seen := 0
			for _, err := range loop {
				if err != nil {
					t.Fatal(err)
				}
				if seen++; seen == 1500 {
					break
				}
			}
			if seen != 1500 {
				t.Errorf("the loop ran %d times", seen)
			}
		}
	})
}

// TestPagesOfLongRanges: Next leads through everything, and no page is empty.
func TestPagesOfLongRanges(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		created := must(posts.CreateMany(ctx, make([]Post, 1210)))(t)
		for _, given := range [][]params.Param{
			{params.Sort("-title")}, {params.Sort("-title"), params.Cursor(created[100].ID)}, {params.Where("title").NotNull()},
		} {
			want := []int{1210, 1110}[len(given)-1]
			for _, limit := range []int64{1001, int64(want)} { // the last page is shorter, or as long as the limit
				seen, page := 0, must(posts.List(ctx, append(given, params.Limit(limit))...))(t)
				for ; page != nil; page = must(page.Next(ctx))(t) {
					if seen += len(page.Items); len(page.Items) == 0 {
						t.Error("a page is empty")
					}
				}
				if seen != want {
					t.Errorf("%d posts by %d, want %d", seen, limit, want)
				}
			}
		}
	})
}

func postJSON(n int, title string) string {
	text, _ := json.Marshal(title)
	return fmt.Sprintf(`{"id":"00000000-0000-7000-8000-%012d","title":%s}`, n, text)
}

// TestItemsOfAList: where an item ends is found whatever its texts contain, and however long they are.
func TestItemsOfAList(t *testing.T) {
	want := []string{"", `a"b`, `\`, `"`, `\"}],{[`, "]", ",", "}", "é\n\\u0022", strings.Repeat(`x,"\]`, 50_000)}
	var items []string
	for n, title := range want {
		items = append(items, postJSON(n, title))
	}
	for _, form := range [][3]string{{`{"data":[`, ",", "]}"}, {" {\n\"data\" : [ ", " ,\n", " ]\n}\n"}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, form[0]+strings.Join(items, form[1])+form[2])
		}))
		got, err := titles(client.Of[Post](connect(t, server.URL), "posts").All(context.Background()))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %.200q %v\nwant %.200q", got, err, want)
		}
		server.Close()
	}
}

// TestResponseThatIsNotAList: an answer that is no list is no end of one either.
func TestResponseThatIsNotAList(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":{"id":"x"}}`:                 "the answer is not the envelope of a list: it has { in place of [",
		`{"data":[1,]}`:                       "a resource of posts: json: cannot unmarshal number into Go value of type struct { ID string }",
		`<html>`:                              "the answer is not JSON: invalid character '<' looking for beginning of value",
		`{"data":[` + postJSON(1, "") + `,]}`: "the answer is not JSON: unexpected end of JSON input",
		`{"data":[` + postJSON(1, "") + postJSON(2, "") + `]}`:  "the answer is not JSON: invalid character '{' after top-level value",
		`{"data":[{"id":"x"]}`:                                  "the answer is not the envelope of a list: it has {\"id\":\"x\"]} where the items or the envelope should end",
		`{"data":[` + postJSON(1, "") + `],"more":1}`:           "the answer is not the envelope of a list: it has , where the items or the envelope should end",
		`{"data":[` + postJSON(1, "") + `}`:                     "the answer is not the envelope of a list: it has " + postJSON(1, "") + "} where the items or the envelope should end",
		`{"data":[` + postJSON(1, "") + `,{"id":1,"title":x}]}`: "the answer is not JSON: invalid character 'x' looking for beginning of value",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		_, err := titles(client.Of[Post](connect(t, server.URL), "posts").All(context.Background()))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v", body, err)
		}
		server.Close()
	}
}
