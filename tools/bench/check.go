//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// maxLoss is how much more than with the base a request may cost.
const maxLoss = 0.10

// recordedBase is the commit to compare with as long as no release has a tag.
const recordedBase = "81429cd28c066f482204420154915a4673bde0b5"

// Base is what a build is compared with: a commit, or a program that was built already.
type Base struct {
	Commit  string // empty: the last tag, or recordedBase
	Program string
}

// Comparison is how the cost of requests compares with that of the base.
type Comparison struct {
	Base   string
	first  *Results
	second *Results // of the lines that seemed to lose, or nil
}

// Check compares what requests cost with what they cost with the base, in interleaved rounds. A line that seems
// to lose is measured again in twice as many rounds, and only these count for it: a line loses if the medians
// of two independent measurements say so.
func (p *Plan) Check(ctx context.Context, base Base, progress io.Writer) (_ *Comparison, err error) {
	chosen, err := p.chooseRequests()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	name, program, err := base.build(ctx, p.Module, p.home)
	if err != nil {
		return nil, err
	}
	if err := p.addOurs(ctx, BaseSQLite, BasePostgres, program); err != nil {
		return nil, err
	}
	if err := p.addOurs(ctx, PluralSQLite, PluralPostgres, p.binary); err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "comparing with %s\nloading %d users and %d tasks on each server\n", name, p.Users, p.Rows)
	if err := p.startAll(ctx); err != nil {
		return nil, err
	}
	c := &Comparison{Base: name}
	if c.first, err = p.rounds(ctx, chosen, p.Rounds, progress); err != nil {
		return nil, err
	}
	again := slices.DeleteFunc(chosen, func(m Measurement) bool { return !c.loses(m.Lines[0]) })
	if len(again) == 0 {
		return c, nil
	}
	fmt.Fprintln(progress, "measuring again what seems to lose")
	c.second, err = p.rounds(ctx, again, 2*p.Rounds, progress)
	return c, err
}

// build returns the program of the base and its name.
func (b Base) build(ctx context.Context, module, home string) (name, program string, err error) {
	if b.Program != "" {
		program, err = filepath.Abs(b.Program)
		return b.Program, program, err
	}
	source := filepath.Join(home, "base")
	if name, err = b.unpack(ctx, module, source); err != nil {
		return "", "", err
	}
	program = filepath.Join(home, "plural-base")
	return name, program, build(ctx, source, program)
}

// unpack writes the files of the commit to a directory, and returns its name. They come from an archive, so that
// nothing is left in the repository if the benchmark is killed.
func (b Base) unpack(ctx context.Context, module, dir string) (name string, err error) {
	run := func(program string, args ...string) (string, error) {
		command := exec.CommandContext(ctx, program, args...)
		command.Dir = module
		out, err := command.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out)), err
	}
	if name = b.Commit; name == "" {
		if name, err = run("git", "describe", "--tags", "--abbrev=0"); err != nil {
			name = recordedBase
		}
	}
	commit, err := run("git", "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("this repository has no commit %s: name another one, for example make bench-check BASE=HEAD~20, or fetch its history", name)
	}
	archive := dir + ".tar"
	if _, err := run("git", "archive", "--format=tar", "--output="+archive, commit); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	_, err = run("tar", "-xf", archive, "-C", dir)
	return name, err
}

// baseOf is the server of the base on the same database.
var baseOf = map[string]string{PluralSQLite: BaseSQLite, PluralPostgres: BasePostgres}

// losses are by which part a request costs more than with the base, in each round.
func (r *Results) losses(line Line, server string) []float64 {
	ours, base := r.costs(line, server), r.costs(line, baseOf[server])
	losses := make([]float64, min(len(ours), len(base)))
	for i := range losses {
		losses[i] = ours[i]/base[i] - 1
	}
	return losses
}

// of are the results that count for a line.
func (c *Comparison) of(line Line) *Results {
	if c.second != nil && len(c.second.Figures[Key{line.Name, PluralSQLite}]) > 0 {
		return c.second
	}
	return c.first
}

// loses reports whether a line loses on a database.
func (c *Comparison) loses(line Line) bool {
	return slices.ContainsFunc(c.servers(), func(server string) bool { return c.loss(line, server).Median > maxLoss })
}

func (c *Comparison) loss(line Line, server string) Summary {
	return summarize(c.of(line).losses(line, server))
}

func (c *Comparison) servers() []string {
	return slices.DeleteFunc(slices.Clone(c.first.Servers), func(server string) bool { return baseOf[server] == "" })
}

// Print writes a table, and returns an error if a line has lost.
func (c *Comparison) Print(out io.Writer) error {
	table := [][]string{{"µs of processor time per request", "", c.Base, "now", "change", ""}}
	var lost []string
	for _, line := range c.first.lines() {
		for _, server := range c.servers() {
			r, loss := c.of(line), c.loss(line, server)
			verdict := ""
			switch {
			case loss.Median > maxLoss:
				verdict = "lost"
				lost = append(lost, line.Name+" on "+server)
			case r == c.second:
				verdict = "measured again"
			}
			table = append(table, []string{line.Text, server, number(summarize(r.costs(line, baseOf[server])).Median), number(summarize(r.costs(line, server)).Median),
				fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*loss.Median, 100*loss.Min, 100*loss.Max), verdict})
		}
	}
	if err := printTable(out, table); err != nil || len(lost) == 0 {
		return err
	}
	return fmt.Errorf("a request costs over %.0f %% more than with %s: %s", 100*maxLoss, c.Base, strings.Join(lost, ", "))
}
