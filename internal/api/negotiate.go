package api

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

// streamType is the media type of event streams.
const streamType = "text/event-stream"

// wantsStream reports whether the client prefers an event stream to JSON.
func wantsStream(r *http.Request) bool {
	return namesStream(r) && quality(r, streamType) > quality(r, "application/json")
}

// namesStream reports whether the Accept header names event streams. A range such as */* is not
// enough, because a stream does not end.
func namesStream(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Accept"], ",")), streamType)
}

// acceptable refuses a request whose Accept header rules out JSON.
func acceptable(r *http.Request) error {
	if quality(r, "application/json") > 0 {
		return nil
	}
	if isRead(r.Method) && namesStream(r) && quality(r, streamType) > 0 {
		return fault.Header("Accept", problem.CodeNotAcceptable, "There is no event stream here. Send Accept: application/json.")
	}
	return fault.Header("Accept", problem.CodeNotAcceptable, "Responses are JSON in UTF-8. Send Accept: application/json.")
}

// quality returns the weight of a media type by the most specific matching range of the Accept
// header (RFC 9110, section 12.5.1); 0: not acceptable.
func quality(r *http.Request, media string) float64 {
	given := strings.Join(r.Header["Accept"], ",")
	if given == "*/*" || given == media || strings.Trim(given, ", \t") == "" {
		return 1
	}
	family, _, _ := strings.Cut(media, "/")
	ranges := []string{"*/*", family + "/*", media}
	best, weight := -1, 0.0
	for part := range strings.SplitSeq(given, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if given, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(given, 64); err != nil {
				q = 1 // an invalid weight is ignored
			}
		}
		if specific := slices.Index(ranges, name); specific > best || specific >= 0 && specific == best && q > weight {
			best, weight = specific, q
		}
	}
	return weight
}

// prefers reports whether a Prefer header asks for a preference with a value.
func prefers(r *http.Request, name, value string) bool {
	given, ok := preference(r, name)
	return ok && given == value
}

// preference finds a preference in a Prefer header (RFC 7240). The first one counts. Unknown
// preferences are no error, by that standard.
func preference(r *http.Request, name string) (value string, found bool) {
	for _, line := range r.Header.Values("Prefer") {
		for each := range strings.SplitSeq(line, ",") {
			each, _, _ = strings.Cut(each, ";")
			key, given, _ := strings.Cut(each, "=")
			if strings.EqualFold(strings.TrimSpace(key), name) {
				return strings.Trim(strings.TrimSpace(given), `"`), true
			}
		}
	}
	return "", false
}

// timing says when a write is executed.
type timing struct {
	later   bool
	wait    time.Duration // for the outcome
	applied string        // Preference-Applied
}

// maxWait bounds how long a request waits for its operation, or for a change.
const maxWait = 5 * time.Minute

// timingOf reads when a write is to be executed. Dry runs, and what writes to several resources or
// may do one of two things, are never asynchronous.
func timingOf(r *http.Request, request resource.Request) timing {
	if request.DryRun || request.Range != nil || request.Conflict != nil {
		return timing{}
	}
	_, asked := preference(r, "respond-async")
	if !asked && !slices.Contains(request.Path.Collection.Async, r.Method) || bytes.HasPrefix(bytes.TrimLeft(request.Body, " \t\r\n"), []byte("[")) {
		return timing{}
	}
	t := timing{later: true, applied: "respond-async"}
	if wait, asked := waitOf(r); asked {
		t.wait = wait
		t.applied += ", wait=" + strconv.Itoa(int(t.wait/time.Second))
	}
	return t
}

// waitOf reads how long the client prefers to wait.
func waitOf(r *http.Request) (wait time.Duration, asked bool) {
	text, _ := preference(r, "wait")
	seconds, err := strconv.ParseUint(text, 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return min(time.Duration(seconds)*time.Second, maxWait), true
}
