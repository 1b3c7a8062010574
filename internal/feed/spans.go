package feed

import (
	"context"
	"log/slog"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/tracing"
)

// startSpans starts a span for each change that was made in a sampled trace and is matched with shapes of streams. It continues the
// trace of the write. The function ends the spans.
func (f *Feed) startSpans(entries []changelog.Entry, found map[*chain][]Event) (end func()) {
	var spans []tracing.Span
	for i := range entries {
		e := &entries[i]
		if f.options.Tracer == nil || e.Traceparent == "" {
			continue
		}
		shapes := 0
		for each := range found {
			if each.view.collection == nil || each.view.isAbout(e) {
				shapes++
			}
		}
		if shapes == 0 {
			continue
		}
		collection := e.Collection.Name
		_, span := f.options.Tracer.Start(f.options.Tracer.Continue(context.Background(), e.Traceparent, ""), tracing.Producer, "event "+collection,
			slog.String("plural.collection", collection), slog.String("plural.change.kind", string(e.Kind)),
			slog.Int64("plural.change.revision", e.Revision), slog.Int("plural.stream.shapes", shapes))
		spans = append(spans, span)
	}
	return func() {
		for _, span := range spans {
			tracing.End(span, nil)
		}
	}
}
