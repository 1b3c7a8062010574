package api

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minZipped is the smallest body that is worth compressing.
const minZipped = 1 << 10

// wantsGzip reports whether the client accepts gzip (RFC 9110, section 12.5.3).
func wantsGzip(r *http.Request) bool {
	found, weight := false, 0.0
	for _, line := range r.Header["Accept-Encoding"] {
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

// zippers prefer speed: responses are compressed as they are sent.
var zippers = sync.Pool{New: func() any {
	zipper, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a valid level
	return zipper
}}

// zip compresses what write writes. If write fails, the gzip trailer is missing, so that the
// client notices.
func zip(out *response, write func(*gzip.Writer) error) error {
	zipper := zippers.Get().(*gzip.Writer)
	zipper.Reset(out)
	defer func() {
		zipper.Reset(nil)
		zippers.Put(zipper)
	}()
	if err := write(zipper); err != nil {
		return err
	}
	return zipper.Close()
}
