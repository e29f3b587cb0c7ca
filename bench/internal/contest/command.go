package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

// options are the command-line parameters of a contest. An empty list means all.
var options = []contract.Param{
	contract.Int("rounds", 5),
	contract.Text("benches", ""),
	contract.Text("peers", ""),
	contract.Text("styles", ""),
	contract.Int("quick", 0).Range(0, 1), // 1: a smoke run
	contract.Int("timeout", 120),         // seconds per run
	contract.Int("write", 1).Range(0, 1), // 0: the table on the terminal only
	contract.Text("before", ""),          // this program at an earlier commit; then nothing is written
}

// setup is a parsed command line.
type setup struct {
	cases   []Case
	peers   []string
	styles  []string
	rounds  int
	timeout time.Duration
	write   bool
	before  string // "": none
}

// Main plays the system own against the peers below dir, this program's source directory, and writes the results there. It
// prints the table on stdout and everything else on stderr. It returns the exit status.
func Main(ctx context.Context, own contract.System, dir string, args []string, stdout, stderr io.Writer) int {
	err := command(ctx, own, dir, args, stdout, stderr)
	switch {
	case err == nil:
		return contract.Done
	case errors.Is(err, contract.ErrUsage):
		fmt.Fprintln(stderr, err)
		return contract.Misused
	default:
		fmt.Fprintln(stderr, err)
		return contract.Failed
	}
}

func command(ctx context.Context, own contract.System, dir string, args []string, stdout, stderr io.Writer) error {
	peersDir := filepath.Join(dir, "peers")
	found, err := peers(peersDir)
	if err != nil {
		return err
	}
	s, err := newSetup(args, found)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	entrants, err := ours(own, s.styles)
	if err != nil {
		return err
	}
	if s.before != "" {
		if entrants, err = withBefore(ctx, entrants, s.before); err != nil {
			return fmt.Errorf("compare: before: %w", err)
		}
	}
	for _, name := range s.peers {
		fmt.Fprintf(stderr, "building %s\n", name)
		e := enter(ctx, peersDir, name)
		if e.err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", name, e.err)
		}
		entrants = insert(entrants, e)
	}
	run := func(ctx context.Context, e Entrant, c Case) (contract.Result, error) { return e.run(ctx, c, s.timeout) }
	b := newBoard(s.cases, entrants, s.rounds)
	if err := b.play(ctx, run, stderr); err != nil {
		return fmt.Errorf("compare: nothing is written: %w", context.Cause(ctx))
	}
	return b.publish(s.write, dir, stdout)
}

// publish prints the table and writes the results; its error lists the failures.
func (b *Board) publish(write bool, dir string, stdout io.Writer) error {
	if err := b.writeText(stdout); err != nil {
		return err
	}
	if v := b.verdict(); v != "" {
		fmt.Fprintf(stdout, "\n%s\n", v)
	}
	if v := b.slower(); v != "" {
		fmt.Fprintf(stdout, "\n%s\n", v)
	}
	if write {
		r := report{board: b, machine: here(), date: time.Now()}
		if err := r.write(dir); err != nil {
			return err
		}
	}
	if failures := b.failures(); len(failures) > 0 {
		return fmt.Errorf("failed:\n%s", strings.Join(failures, "\n"))
	}
	return nil
}

// insert adds a peer after this node's styles. The reference goes before them, so that each round starts with it.
func insert(entrants []Entrant, e Entrant) []Entrant {
	if e.Name == reference {
		return slices.Insert(entrants, 0, e)
	}
	return append(entrants, e)
}

func newSetup(args, found []string) (setup, error) {
	p, err := contract.Parse(options, args)
	if err != nil {
		return setup{}, err
	}
	s := setup{
		cases:   Cases(),
		rounds:  p.Int("rounds"),
		timeout: time.Duration(p.Int("timeout")) * time.Second,
		write:   p.Int("write") == 1 && p.Word("before") == "",
		before:  p.Word("before"),
	}
	if p.Int("quick") == 1 {
		s.cases, s.rounds, s.write = Smoke(), 1, false
	}
	names, err := choose(p, "benches", benches(s.cases))
	if err != nil {
		return setup{}, err
	}
	s.cases = slices.DeleteFunc(s.cases, func(c Case) bool { return !slices.Contains(names, c.Bench) })
	if s.peers, err = choose(p, "peers", found); err != nil {
		return setup{}, err
	}
	s.styles, err = choose(p, "styles", []string{contract.Actor, contract.Process, contract.Coroutine, contract.Active})
	return s, err
}

// choose returns the items of all that the list parameter key names, in the order of all, or all if the list is empty.
func choose(p contract.Params, key string, all []string) ([]string, error) {
	if p.Word(key) == "" {
		return all, nil
	}
	wanted := strings.Split(p.Word(key), ",")
	for _, w := range wanted {
		if !slices.Contains(all, w) {
			return nil, fmt.Errorf("%w: %s: unknown %q (there are: %s)", contract.ErrUsage, key, w, strings.Join(all, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(wanted, name) }), nil
}

// Folder returns the bench directory of the repository that contains the working directory. It is a separate module.
func Folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "bench", "go.mod")); err == nil {
			return filepath.Join(dir, "bench"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("compare: run it inside the repository: it needs the sources of the peers")
		}
		dir = parent
	}
}
