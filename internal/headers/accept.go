// Package headers reads the headers of requests as their standards define them: conditions, what the client accepts
// and prefers, and its address behind proxies. It does no I/O.
package headers

import (
	"iter"
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
	for name, q := range weights(given) {
		if specific := slices.Index(ranges, name); specific > best || specific >= 0 && specific == best && q > weight {
			best, weight = specific, q
		}
	}
	return weight
}

// AcceptsGzip reports whether the client accepts gzip (RFC 9110, section 12.5.3).
func AcceptsGzip(h http.Header) bool {
	found, weight := false, 0.0
	for coding, q := range weights(strings.Join(h["Accept-Encoding"], ",")) {
		if coding == "gzip" || coding == "x-gzip" || coding == "*" && !found {
			weight, found = q, coding != "*"
		}
	}
	return weight > 0
}

// weights iterates over the items of a header with their q parameter, 1 if there is none or it is invalid.
func weights(header string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for item := range strings.SplitSeq(header, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			weight := 1.0
			for each := range strings.SplitSeq(parameters, ";") {
				key, value, _ := strings.Cut(each, "=")
				if !strings.EqualFold(strings.TrimSpace(key), "q") {
					continue
				}
				if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
					weight = q
				}
			}
			if !yield(strings.ToLower(strings.TrimSpace(name)), weight) {
				return
			}
		}
	}
}
