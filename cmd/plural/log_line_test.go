package main

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What a line looks like is up to slog.
func TestLinesAreThoseOfSlog(t *testing.T) {
	values := rapid.OneOf(
		rapid.Map(rapid.String(), slog.StringValue),
		rapid.Map(rapid.StringMatching(`/[a-z]+/[0-9a-f-]*`), slog.StringValue),
		rapid.Map(rapid.Int64(), slog.Int64Value),
		rapid.Map(rapid.Float64(), slog.Float64Value),
		rapid.Map(rapid.Float64Range(0, 100), slog.Float64Value),
		rapid.Map(rapid.Bool(), slog.BoolValue),
	)
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at"))
		if rapid.Bool().Draw(t, "UTC") {
			at = at.UTC()
		}
		level := rapid.SampledFrom([]slog.Level{slog.LevelInfo, slog.LevelError}).Draw(t, "level")
		message := rapid.SampledFrom([]string{"request", "stopping", "not ready"}).Draw(t, "message")
		record := slog.NewRecord(at, level, message, 0)
		for _, name := range []string{"method", "path", "status", "ms"}[:rapid.IntRange(0, 4).Draw(t, "attributes")] {
			record.AddAttrs(slog.Attr{Key: name, Value: values.Draw(t, name)})
		}
		var got, want bytes.Buffer
		if err := newLineHandler(&got, nil).Handle(context.Background(), record); err != nil {
			t.Fatal(err)
		}
		if err := slog.NewTextHandler(&want, nil).Handle(context.Background(), record); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got\n%swant\n%s", got.String(), want.String())
		}
	})
}

func BenchmarkLine(b *testing.B) {
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	record.AddAttrs(slog.String("method", "GET"), slog.String("path", "/users/01936f2e-7d3c-7a4b-9c5d-0123456789ab"), slog.Int("status", 200),
		slog.Int64("bytes", 250), slog.Float64("ms", 0.123), slog.String("remote", "127.0.0.1"), slog.String("request_id", "0123456789abcdef0123456789abcdef"))
	for name, handler := range map[string]slog.Handler{"ours": newLineHandler(new(nowhere), nil), "slog": slog.NewTextHandler(new(nowhere), nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = handler.Handle(context.Background(), record)
			}
		})
	}
}

type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }
