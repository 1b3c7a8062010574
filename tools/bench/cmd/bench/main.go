//go:build linux

// Bench measures the server against a bare net/http server and hand-written
// handlers. See docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plural-go/plural/tools/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	commands := map[string]func(context.Context, []string) error{
		"serve":   func(ctx context.Context, args []string) error { return bench.Serve(ctx, args, os.Stdout) },
		"streams": measureStreams,
		"waits":   measureWaits,
		"growth":  measureGrowth,
		"check":   check,
	}
	run, args := measure, os.Args[1:]
	if len(args) > 0 && commands[args[0]] != nil {
		run, args = commands[args[0]], args[1:]
	}
	if err := run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// planFlags are the flags that all tables have.
type planFlags struct {
	*flag.FlagSet
	plan                bench.Plan
	markdown, json, svg string
}

func newFlags(name string, rounds int) *planFlags {
	f := &planFlags{FlagSet: flag.NewFlagSet(name, flag.ExitOnError)}
	f.StringVar(&f.plan.Module, "module", ".", "directory of the module, from which the server is built")
	f.IntVar(&f.plan.Rounds, "rounds", rounds, "rounds, in each of which every server gets its turn with every measurement")
	f.DurationVar(&f.plan.Duration, "duration", time.Second, "length of a turn")
	f.IntVar(&f.plan.Connections, "connections", 64, "connections, where the measurement does not say so itself")
	f.BoolVar(&f.plan.Postgres, "postgres", true, "measure on PostgreSQL too")
	f.StringVar(&f.plan.Dir, "dir", "", "directory for the SQLite databases (default that of temporary files)")
	f.Func("only", "`measurements`, separated by commas (default all)", func(text string) error {
		f.plan.Only = strings.Split(text, ",")
		return nil
	})
	return f
}

// sized adds the flags of how much is loaded.
func (f *planFlags) sized(rows int) {
	f.IntVar(&f.plan.Users, "users", 100_000, "users that are loaded")
	f.IntVar(&f.plan.Rows, "rows", rows, "tasks that are loaded, for filters and sorts; and rows that are imported")
}

// written adds the flags of the files that results are written to.
func (f *planFlags) written() {
	f.StringVar(&f.markdown, "markdown", "", "`file` to write the table to, as Markdown")
	f.StringVar(&f.json, "json", "", "`file` to write all figures to, as JSON")
	f.StringVar(&f.svg, "svg", "", "`file` to draw a plot to")
}

// clocked adds the flag of what counts as time.
func (f *planFlags) clocked(processor bool) {
	f.BoolVar(&f.plan.Processor, "processor", processor, "count the processor time of server and database, not the clock, which others on the machine disturb")
}

type results interface {
	Print(io.Writer) error
	Markdown(io.Writer) error
	JSON(io.Writer) error
	SVG(io.Writer) error
}

// write prints results, and writes them to files.
func (f *planFlags) write(r results) error {
	return errors.Join(r.Print(os.Stdout), write(f.markdown, r.Markdown), write(f.json, r.JSON), write(f.svg, r.SVG))
}

func measure(ctx context.Context, args []string) error {
	f := newFlags("bench", 5)
	f.sized(200_000)
	f.clocked(false)
	f.written()
	f.IntVar(&f.plan.Children, "children", 100_000, "resources that are deleted by a cascade")
	if err := f.Parse(args); err != nil {
		return err
	}
	results, err := f.plan.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return f.write(results)
}

func measureGrowth(ctx context.Context, args []string) error {
	f := newFlags("bench growth", 3)
	f.clocked(true)
	f.written()
	sizes := f.String("sizes", "10000,100000,1000000", "users and tasks, separated by commas")
	if err := f.Parse(args); err != nil {
		return err
	}
	var all []int
	for text := range strings.SplitSeq(*sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-sizes=%s: %s is not a number", *sizes, text)
		}
		all = append(all, size)
	}
	growth, err := f.plan.Growth(ctx, all, os.Stderr)
	if err != nil {
		return err
	}
	return f.write(growth)
}

func check(ctx context.Context, args []string) error {
	f := newFlags("bench check", 5)
	f.sized(100_000)
	f.plan.Processor = true
	var base bench.Base
	f.StringVar(&base.Commit, "base", "", "`commit` to compare with (default the last tag, or before the first release the recorded commit)")
	f.StringVar(&base.Program, "program", "", "plural `program` to compare with, instead of a commit")
	if err := f.Parse(args); err != nil {
		return err
	}
	comparison, err := f.plan.Check(ctx, base, os.Stderr)
	if err != nil {
		return err
	}
	return comparison.Print(os.Stdout)
}

func measureStreams(ctx context.Context, args []string) error {
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
	if err := flags.Parse(args); err != nil {
		return err
	}
	return plan.Run(ctx, os.Stderr, os.Stdout)
}

func measureWaits(ctx context.Context, args []string) error {
	var plan bench.WaitPlan
	flags := flag.NewFlagSet("bench waits", flag.ExitOnError)
	flags.StringVar(&plan.Module, "module", ".", "directory of the module, from which the server is built")
	flags.StringVar(&plan.Program, "program", "", "plural `program` to measure instead")
	flags.StringVar(&plan.Dir, "dir", "", "directory for the SQLite database (default that of temporary files)")
	flags.IntVar(&plan.Rows, "rows", 200_000, "tasks that filters read, and issues that are deleted with their project")
	if err := flags.Parse(args); err != nil {
		return err
	}
	waits, err := plan.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return waits.Print(os.Stdout)
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
