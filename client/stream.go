package client

import (
	"fmt"
	"io"
	"time"
)

// maxSilence is how long a stream may send nothing. Servers send a comment every 15 seconds, so a longer
// silence means that the connection is lost although it was not closed.
const maxSilence = time.Minute

var errSilent = fmt.Errorf("nothing has come for %v", maxSilence)

// timedReader calls a function if one Read takes longer than maxSilence. The time between two calls
// does not count, because the loop of the program may be slow.
type timedReader struct {
	io.Reader
	timer *time.Timer
}

func newTimedReader(stream io.Reader, silent func()) *timedReader {
	timer := time.AfterFunc(maxSilence, silent)
	timer.Stop()
	return &timedReader{stream, timer}
}

func (r *timedReader) Read(p []byte) (int, error) {
	r.timer.Reset(maxSilence)
	defer r.timer.Stop()
	return r.Reader.Read(p)
}
