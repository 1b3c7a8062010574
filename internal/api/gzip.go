package api

import (
	"compress/gzip"
	"sync"
)

// minZipped is the smallest body that is worth compressing.
const minZipped = 1 << 10

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
