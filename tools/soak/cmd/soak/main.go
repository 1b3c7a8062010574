//go:build linux

// Soak crashes a server over and over while writers write, and compares what is
// stored with what it acknowledged. See docs/reliability.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/plural-go/plural/tools/soak"
)

func main() {
	var plan soak.Plan
	flag.StringVar(&plan.Module, "module", ".", "directory of the module, from which the server is built")
	flag.IntVar(&plan.Writers, "writers", 64, "clients that write at the same time")
	flag.IntVar(&plan.Kills, "kills", 200, "least number of times that the server is killed")
	flag.IntVar(&plan.Cuts, "cuts", 50, "least number of power cuts")
	flag.IntVar(&plan.Writes, "writes", 100_000, "least number of acknowledged writes")
	flag.IntVar(&plan.Nodes.Kills, "node-kills", 10, "number of times that one of the nodes on PostgreSQL is killed")
	flag.IntVar(&plan.Nodes.Pauses, "node-pauses", 5, "number of times that one of them is paused")
	flag.IntVar(&plan.Nodes.Stops, "stops", 3, "number of times that PostgreSQL is stopped and goes on")
	flag.IntVar(&plan.Nodes.Restarts, "restarts", 5, "number of times that PostgreSQL is restarted in immediate mode")
	flag.IntVar(&plan.Nodes.Cuts, "disconnects", 50, "number of connections to PostgreSQL that are cut")
	flag.IntVar(&plan.Nodes.Failovers, "failovers", 2, "number of times that PostgreSQL fails over to its standby")
	flag.IntVar(&plan.FeedResets, "feed-resets", 3, "number of times that retention, a migration and a restore make subscribers begin again, on each database")
	flag.Uint64Var(&plan.Seed, "seed", uint64(time.Now().UnixNano()), "what the random choices follow from")
	duration := flag.Duration("duration", 30*time.Minute, "time after which the run ends, as a failure if it is not through")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	ok, err := plan.Run(ctx, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}
