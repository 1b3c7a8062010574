package observe

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// streams are the metrics of streams of changes.
type streams struct {
	open, shapes, lag, kept, waiting prometheus.Gauge
	delay                            prometheus.Histogram
	events, catchUps, slow           prometheus.Counter
	resets                           *prometheus.CounterVec
}

func newStreams(registry *prometheus.Registry) streams {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	s := streams{
		open:    gauge("plural_streams", "Streams of changes being sent, and long polls that wait."),
		shapes:  gauge("plural_stream_shapes", "Different shapes of the streams: those of one shape share their events."),
		lag:     gauge("plural_stream_lag_changes", "Changes in the log that the server has not read yet, while there are streams."),
		kept:    gauge("plural_stream_kept_bytes", "Bytes of events that are kept for streams that have not sent them yet."),
		waiting: gauge("plural_stream_reads_waiting", "Streams that wait for their turn to read from the database."),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "plural_stream_delay_seconds", Help: "Time from a change to the sending of its event.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
		events:   counter("plural_stream_events_total", "Events of changes sent."),
		catchUps: counter("plural_stream_catch_ups_total", "Reads of the change log for a single stream."),
		slow:     counter("plural_stream_slow_total", "Streams that were closed because the client received them too slowly."),
		resets:   counters("plural_stream_resets_total", "Streams that had to begin again with a list, by cause.", "cause"),
	}
	registry.MustRegister(s.open, s.shapes, s.lag, s.kept, s.waiting, s.delay, s.events, s.catchUps, s.slow, s.resets)
	return s
}

// StreamsChanged counts a stream that began (1) or ended (-1).
func (o *Observer) StreamsChanged(change int) { o.streams.open.Add(float64(change)) }

// ShapesChanged counts a new shape of streams (1), or one whose last stream ended (-1).
func (o *Observer) ShapesChanged(change int) { o.streams.shapes.Add(float64(change)) }

// EventsSent counts events that were sent together, with the age of the oldest change.
func (o *Observer) EventsSent(events int, age time.Duration) {
	o.streams.events.Add(float64(events))
	o.streams.delay.Observe(age.Seconds())
}

// FeedLag notes how many changes were not read yet.
func (o *Observer) FeedLag(changes int64) { o.streams.lag.Set(float64(changes)) }

// EventsKept notes how many bytes of events are kept.
func (o *Observer) EventsKept(bytes int64) { o.streams.kept.Set(float64(bytes)) }

// StreamCaughtUp counts a read of the change log for one stream.
func (o *Observer) StreamCaughtUp() { o.streams.catchUps.Inc() }

// StreamReadsWaiting counts a stream that begins (1) or ceases (-1) to wait for its turn to read from the
// database.
func (o *Observer) StreamReadsWaiting(change int) { o.streams.waiting.Add(float64(change)) }

// StreamTooSlow counts a stream that was closed because its client was too slow.
func (o *Observer) StreamTooSlow() { o.streams.slow.Inc() }

// StreamReset counts a stream that had to begin again.
func (o *Observer) StreamReset(cause string) { o.streams.resets.WithLabelValues(cause).Inc() }

// FeedFailed logs that changes could not be read for streams. It is retried.
func (o *Observer) FeedFailed(err error) {
	o.failure(slog.LevelError, "feed", "changes cannot be read", "error", err)
}
