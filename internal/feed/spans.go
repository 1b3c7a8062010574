package feed

import (
	"context"
	"log/slog"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

// tracedChanges are changes of a collection that one write has made.
type tracedChanges struct {
	traceparent string
	collection  *model.Collection
}

// startSpans starts a span for the changes of a collection that were made in one span of a sampled trace and are matched with shapes of
// streams. It continues the trace of the write. The function ends the spans.
func (f *Feed) startSpans(entries []changelog.Entry, found map[*chain][]Event) (end func()) {
	if f.options.Tracer == nil || len(found) == 0 {
		return func() {}
	}
	var order []tracedChanges
	changes := map[tracedChanges]int{}
	for i := range entries {
		key := tracedChanges{entries[i].Traceparent, entries[i].Collection}
		if key.traceparent == "" {
			continue
		}
		if changes[key]++; changes[key] == 1 {
			order = append(order, key)
		}
	}
	var spans []tracing.Span
	for _, key := range order {
		shapes := 0
		for each := range found {
			if of := each.view.collection; of == nil || of.Base() == key.collection {
				shapes++
			}
		}
		if shapes == 0 {
			continue
		}
		_, span := f.options.Tracer.Start(f.options.Tracer.Continue(context.Background(), key.traceparent, ""), tracing.Producer, "event "+key.collection.Name,
			slog.String("plural.collection", key.collection.Name), slog.Int("plural.changes", changes[key]), slog.Int("plural.stream.shapes", shapes))
		spans = append(spans, span)
	}
	return func() {
		for _, span := range spans {
			tracing.End(span, nil)
		}
	}
}
