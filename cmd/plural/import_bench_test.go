package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/pgtest"
)

// BenchmarkImport imports users into an empty database. It reports the processor time of this process,
// without that of PostgreSQL.
//
//	go test ./cmd/plural -run '^$' -bench Import -benchtime 1x
func BenchmarkImport(b *testing.B) {
	const rows = 200_000
	lines, cells := &strings.Builder{}, &strings.Builder{}
	cells.WriteString("name,email,active\n")
	for i := range rows {
		fmt.Fprintf(lines, `{"name":"User number %d","email":"user%d@example.com","active":%t}`+"\n", i, i, i%3 > 0)
		fmt.Fprintf(cells, "User number %d,user%d@example.com,%t\n", i, i, i%3 > 0)
	}
	dir := b.TempDir()
	for name, text := range map[string]string{"users.ndjson": lines.String(), "users.csv": cells.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Chdir(dir) // without a schema file, the example is used
	for name, database := range pgtest.Databases() {
		for _, file := range []string{"users.ndjson", "users.csv"} {
			b.Run(name+"/"+file, func(b *testing.B) {
				spent := time.Duration(0)
				for b.Loop() {
					b.StopTimer()
					url, before := database(b), processorTime(b)
					b.StartTimer()
					command := newRootCommand()
					command.SetArgs([]string{"import", "users", file, "--database", url})
					command.SetErr(&strings.Builder{})
					if err := command.ExecuteContext(context.Background()); err != nil {
						b.Fatal(err)
					}
					spent += processorTime(b) - before
				}
				b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/rows, "cpu-ns/row")
				b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
