// Package headers reads the headers of requests as their standards define them: conditions, what the client accepts
// and prefers, and its address behind proxies. It does no I/O.
package headers

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Names reports whether the Accept header names a media type. A range such as */* does not.
func Names(h http.Header, media string) bool {
	return strings.Contains(strings.ToLower(strings.Join(h["Accept"], ",")), media)
}

// Quality returns the weight of a media type by the most specific matching range of the Accept
// header (RFC 9110, section 12.5.1); 0: not acceptable.
func Quality(h http.Header, media string) float64 {
	given := strings.Join(h["Accept"], ",")
	if given == "*/*" || given == media || strings.Trim(given, ", \t") == "" {
		return 1
	}
	family, _, _ := strings.Cut(media, "/")
	ranges := []string{"*/*", family + "/*", media}
	best, weight := -1, 0.0
	for part := range strings.SplitSeq(given, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil { // or empty
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

// AcceptsGzip reports whether the client accepts gzip (RFC 9110, section 12.5.3).
func AcceptsGzip(h http.Header) bool {
	found, weight := false, 0.0
	for _, line := range h["Accept-Encoding"] {
		for each := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(each, ";")
			coding = strings.ToLower(strings.TrimSpace(coding))
			if coding != "gzip" && coding != "x-gzip" && (coding != "*" || found) {
				continue
			}
			weight, found = weightOf(parameters), coding != "*"
		}
	}
	return weight > 0
}

// weightOf returns the q parameter; 1 if there is none.
func weightOf(parameters string) float64 {
	for each := range strings.SplitSeq(parameters, ";") {
		name, given, _ := strings.Cut(each, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(given), 64); err == nil {
			return q
		}
	}
	return 1
}
