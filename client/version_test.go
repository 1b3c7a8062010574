package client_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/plural-go/plural/client"
)

// TestAPIVersion: every request has the version of the options, streams included, unless its own header has another one.
func TestAPIVersion(t *testing.T) {
	var sent []string
	var cancel context.CancelFunc
	s := &script{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Header.Get("API-Version"))
		if r.Header.Get("Accept") == "text/event-stream" {
			cancel() // or it would be tried again
		}
		return nil, errors.New("no answer")
	}}}
	ask := func(version int, header http.Header) {
		c := connect(t, "http://script", func(o *client.Options) {
			o.HTTPClient, o.APIVersion, o.Retries = &http.Client{Transport: s}, version, -1
		})
		_, _ = c.Do(t.Context(), client.Request{Method: http.MethodGet, Path: "/users", Header: header})
		ctx, stop := context.WithCancel(t.Context())
		cancel = stop
		for _, err := range client.Of[User](c, "users").Watch(ctx) {
			if err == nil {
				t.Error("there is an event")
			}
		}
	}
	ask(2, nil)
	ask(0, nil)
	ask(2, http.Header{"Api-Version": {"3"}})
	if want := []string{"2", "2", "", "", "3", "2"}; !reflect.DeepEqual(sent, want) {
		t.Errorf("the versions are %q, want %q", sent, want)
	}
}
