//go:build linux

// Bench measures the server against a bare net/http server and hand-written
// handlers. See docs/performance.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/plural-go/plural/tools/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := measure
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "serve":
			run = func(ctx context.Context) error { return bench.Serve(ctx, os.Args[2:], os.Stdout) }
		case "streams":
			run = measureStreams
		}
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context) error {
	var plan bench.Plan
	flag.StringVar(&plan.Module, "module", ".", "directory of the module, from which the server is built")
	flag.StringVar(&plan.Other, "other", "", "another plural `program`, to compare with on SQLite")
	flag.IntVar(&plan.Rows, "rows", 100_000, "users that are loaded")
	flag.IntVar(&plan.Rounds, "rounds", 5, "rounds, in each of which every server gets its turn with every workload")
	flag.DurationVar(&plan.Duration, "duration", time.Second, "length of a turn")
	flag.IntVar(&plan.Connections, "connections", 64, "connections, where the workload does not say so itself")
	flag.BoolVar(&plan.Postgres, "postgres", true, "compare on PostgreSQL too")
	flag.BoolVar(&plan.Processor, "processor", false, "count answers by the time of the servers' processor and not by the clock, on a machine that others use")
	flag.StringVar(&plan.Dir, "dir", "", "directory for the SQLite databases (default that of temporary files)")
	only := flag.String("only", "", "`workloads` to run, separated by commas (default all)")
	markdown := flag.String("markdown", "", "`file` to write the table to, as Markdown")
	svg := flag.String("svg", "", "`file` to draw the ratios to")
	flag.Parse()
	if *only != "" {
		plan.Only = strings.Split(*only, ",")
	}
	results, err := plan.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if err := results.Print(os.Stdout); err != nil {
		return err
	}
	if err := write(*markdown, results.Markdown); err != nil {
		return err
	}
	return write(*svg, results.SVG)
}

func measureStreams(ctx context.Context) error {
	var plan bench.StreamPlan
	flags := flag.NewFlagSet("bench streams", flag.ExitOnError)
	flags.StringVar(&plan.Module, "module", ".", "directory of the module, from which the server is built")
	flags.StringVar(&plan.Dir, "dir", "", "directory for the SQLite database (default that of temporary files)")
	flags.BoolVar(&plan.Postgres, "postgres", true, "measure two nodes on PostgreSQL too")
	flags.IntVar(&plan.Changes, "changes", 1000, "changes whose way to a subscriber is measured")
	flags.IntVar(&plan.Readers, "readers", 200, "subscribers that get every change of a burst")
	flags.IntVar(&plan.Burst, "burst", 1000, "changes of the burst")
	flags.IntVar(&plan.Idle, "idle", 10_000, "subscribers that wait")
	flags.DurationVar(&plan.Duration, "duration", 5*time.Second, "length of a turn of the writers")
	if err := flags.Parse(os.Args[2:]); err != nil {
		return err
	}
	return plan.Run(ctx, os.Stderr, os.Stdout)
}

func write(name string, content func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := content(file); err != nil {
		return err
	}
	return file.Close()
}
