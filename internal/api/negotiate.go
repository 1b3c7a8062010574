package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

// streamType is the media type of event streams.
const streamType = "text/event-stream"

// wantsStream reports whether the client prefers an event stream to JSON.
func wantsStream(r *http.Request) bool {
	return namesStream(r) && headers.Quality(r.Header, streamType) > headers.Quality(r.Header, "application/json")
}

// namesStream reports whether the Accept header names event streams. A range such as */* is not
// enough, because a stream does not end.
func namesStream(r *http.Request) bool { return headers.Names(r.Header, streamType) }

// acceptable refuses a request whose Accept header rules out JSON.
func acceptable(r *http.Request) error {
	if headers.Quality(r.Header, "application/json") > 0 {
		return nil
	}
	if isRead(r.Method) && namesStream(r) && headers.Quality(r.Header, streamType) > 0 {
		return fault.Header("Accept", problem.CodeNotAcceptable, "There is no event stream here. Send Accept: application/json.")
	}
	return fault.Header("Accept", problem.CodeNotAcceptable, "Responses are JSON in UTF-8. Send Accept: application/json.")
}

// maxWait bounds how long a request waits for its operation, or for a change.
const maxWait = 5 * time.Minute

// setAsync reads whether a write is to be executed later. Dry runs, and steps that change several resources or may do one of two things, are
// never asynchronous. Nor are arrays, which are only known when the body is decoded.
func setAsync(r *http.Request, request *resource.Request) {
	step := request.Steps[0]
	if request.DryRun || step.Range != nil || step.Conflict != nil {
		return
	}
	if _, asked := headers.Preference(r.Header, "respond-async"); !asked && !slices.Contains(step.Path.Collection.Async, r.Method) {
		return
	}
	request.Later, request.Applied = true, "respond-async"
	if wait, asked := waitOf(r); asked {
		request.Wait = wait
		request.Applied += ", wait=" + strconv.Itoa(int(wait/time.Second))
	}
}

// waitOf reads how long the client prefers to wait.
func waitOf(r *http.Request) (wait time.Duration, asked bool) {
	text, _ := headers.Preference(r.Header, "wait")
	seconds, err := strconv.ParseUint(text, 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return min(time.Duration(seconds)*time.Second, maxWait), true
}
