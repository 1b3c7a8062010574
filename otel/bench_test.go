package otel_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/otel"
	"github.com/plural-go/plural/schema"
)

// BenchmarkTraces is what a GET costs without a tracer, in a trace that is not sampled, and in one that is, for a collector that is not
// there.
func BenchmarkTraces(b *testing.B) {
	for _, c := range []struct{ name, sampler string }{{"off", ""}, {"not sampled", "always_off"}, {"sampled", "always_on"}} {
		b.Run(c.name, func(b *testing.B) {
			config := plural.Config{Schema: schema.Example(), Database: "sqlite:" + b.TempDir() + "/plural.db", Logger: slog.New(slog.DiscardHandler)}
			if c.sampler != "" {
				b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
				b.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
			}
			traces, err := otel.FromEnvironment(b.Context(), config.Logger)
			if err != nil {
				b.Fatal(err)
			}
			config.Tracer = traces.Tracer()
			server, err := plural.Open(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer server.Stop(b.Context())
			defer traces.Stop(b.Context())
			r := httptest.NewRequest("GET", "/users?limit=30", nil)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if server.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
