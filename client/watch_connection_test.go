package client_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// TestWatchTellsOfItsConnection: once when it is lost, however many tries fail, and once when it is there again.
func TestWatchTellsOfItsConnection(t *testing.T) {
	type answers = []func(*http.Request) (*http.Response, error)
	first, second := event("synced", "p1", "{}"), event("updated", "p2", resource("Ada"))
	lost := `lost: Get "http://script/users": no route to host`
	again := `lost: Get "http://script/users?since=p1": no route to host`
	for name, test := range map[string]struct {
		answers answers
		given   []params.Param
		want    []string
	}{
		"never":                          {answers: answers{stream(first+second, nil)}, want: []string{"synced", "updated"}},
		"the server ends it":             {answers: answers{stream(first, io.EOF), stream(second, nil)}, want: []string{"synced", "updated"}},
		"the server ends it and is gone": {answers: answers{stream(first, io.EOF), unreachable, unreachable, unreachable, stream(second, nil)}, want: []string{"synced", again, "connected", "updated"}},
		"cut":                            {answers: answers{stream(first, io.ErrUnexpectedEOF), unreachable, stream(second, nil)}, want: []string{"synced", "lost: unexpected EOF", "connected", "updated"}},
		"silence":                        {answers: answers{stream(first, nil), stream(second, nil)}, want: []string{"synced", "lost: nothing has come for 1m0s", "connected", "updated"}},
		"twice":                          {answers: answers{stream(first, io.ErrUnexpectedEOF), stream("", io.ErrUnexpectedEOF), stream(second, nil)}, want: []string{"synced", "lost: unexpected EOF", "connected", "lost: unexpected EOF", "connected", "updated"}},
		"unavailable":                    {answers: answers{stream(first, io.EOF), refuse(503, "unavailable"), refuse(503, "unavailable"), stream(second, nil)}, want: []string{"synced", "lost: GET /users: 503 unavailable: D.", "connected", "updated"}},
		"at first":                       {answers: answers{unreachable, unreachable, stream(first+second, nil)}, want: []string{lost, "connected", "synced", "updated"}},
		"at first, from now on": {
			answers: answers{unreachable, unreachable, refuse(200, "", "Link", `</users?since=p1>; rel="changes"`), stream(second, nil)}, given: []params.Param{params.FromNow()},
			want: []string{`lost: Get "http://script/users?limit=0": no route to host`, "synced", "connected", "updated"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				told := params.OnConnection(func(err error) {
					if err == nil {
						got = append(got, "connected")
					} else {
						got = append(got, fmt.Sprint("lost: ", err))
					}
				})
				c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: &script{answers: test.answers}} })
				for event, err := range client.Of[named](c, "users").Watch(t.Context(), append(test.given, told)...) {
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, string(event.Kind)); event.Kind == client.EventUpdated {
						break
					}
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("got  %q\nwant %q", got, test.want)
				}
			})
		})
	}
}
