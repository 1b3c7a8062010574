package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/fault"
)

// acceptable refuses a request whose Accept header rules out JSON.
func acceptable(r *http.Request) error {
	given := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Trim(given, ", \t") == "" {
		return nil
	}
	// Of the ranges that include JSON the most specific one decides.
	best, quality := 0, 0.0
	for part := range strings.SplitSeq(given, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		specific := map[string]int{"*/*": 1, "application/*": 2, "application/json": 3}[media]
		q := 1.0
		if given, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(given, 64); err != nil {
				q = 1 // what is no weight weighs nothing down
			}
		}
		if specific > best || specific == best && q > quality {
			best, quality = specific, q
		}
	}
	if best > 0 && quality > 0 {
		return nil
	}
	return fault.Header("Accept", fault.CodeNotAcceptable, "Answers are application/json, in UTF-8.")
}

// prefers reports whether a Prefer header (RFC 7240) asks for a preference with
// a value. Preferences that are not known are no error, by that standard.
func prefers(r *http.Request, name, value string) bool {
	for _, line := range r.Header.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			key, given, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(key), name) && strings.Trim(strings.TrimSpace(given), `"`) == value {
				return true
			}
		}
	}
	return false
}
