package contest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

// reference is the peer to which ratios refer.
const reference = "erlang"

// Entrant is a system that runs benches: this node with one style, or a peer.
type Entrant struct {
	Name string // as in the table

	command []string // the program, and the arguments before the bench
	style   string   // of this node; "" for a peer
	earlier bool     // this node at an earlier commit
	benches []string
	absent  bool  // its tools are not installed
	err     error // why it could not be built
}

// has reports whether e can run a bench of that name.
func (e Entrant) has(bench string) bool { return slices.Contains(e.benches, bench) }

// takesPart reports whether e runs c.
func (e Entrant) takesPart(c Case) bool {
	return e.has(c.Bench) && (e.style == "" || c.Styles == nil || slices.Contains(c.Styles, e.style))
}

// target returns the target of c for e. A peer has none.
func (e Entrant) target(c Case) (t Target, asked bool) {
	switch {
	case e.earlier || e.style == "":
		return Target{}, false
	case e.style == contract.Actor:
		return c.Actor, true
	}
	return c.Process, true
}

// ours returns this node's own system as an entrant for each style. The program
// is the running one.
func ours(s contract.System, styles []string) ([]Entrant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var entrants []Entrant
	for _, style := range styles {
		e := Entrant{Name: s.Name + " " + style, command: []string{self}, style: style}
		for _, b := range s.Benches {
			if s.Has(b.Name, style) {
				e.benches = append(e.benches, b.Name)
			}
		}
		entrants = append(entrants, e)
	}
	return entrants, nil
}

// withBefore inserts program, this node at an earlier commit, before each of own's styles.
func withBefore(ctx context.Context, own []Entrant, program string) ([]Entrant, error) {
	benches, err := listed(ctx, []string{program})
	if err != nil {
		return nil, err
	}
	var all []Entrant
	for _, e := range own {
		all = append(all, Entrant{Name: "before " + e.style, command: []string{program}, style: e.style, earlier: true,
			benches: slices.DeleteFunc(slices.Clone(e.benches), func(b string) bool { return !slices.Contains(benches, b) })}, e)
	}
	return all, nil
}

// listed returns the names of a program's benches.
func listed(ctx context.Context, command []string) (names []string, err error) {
	list, err := execute(ctx, buildTimeout, append(slices.Clone(command), "list"))
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names, nil
}

// peers returns the names of the directories in dir with an executable run.
func peers(dir string) ([]string, error) {
	runs, err := filepath.Glob(filepath.Join(dir, "*", "run"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, run := range runs {
		if info, err := os.Stat(run); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			names = append(names, filepath.Base(filepath.Dir(run)))
		}
	}
	return names, nil
}

// buildTimeout bounds the compilation of a peer and the listing of its benches.
const buildTimeout = 5 * time.Minute

// enter builds the peer name of dir. It stores errors in the entrant, so that the others still compete.
func enter(ctx context.Context, dir, name string) Entrant {
	e := Entrant{Name: name, command: []string{filepath.Join(dir, name, "run")}}
	if _, err := execute(ctx, buildTimeout, append(e.command, "build")); err != nil {
		var exit *exec.ExitError
		e.absent = errors.As(err, &exit) && exit.ExitCode() == contract.NoTooling
		e.err = fmt.Errorf("build: %w", err)
		return e
	}
	e.benches, e.err = listed(ctx, e.command)
	return e
}

// arguments returns the command line of e for c.
func (e Entrant) arguments(c Case) []string {
	args := append(slices.Clone(e.command), c.Bench)
	args = append(args, c.Params...)
	if e.style != "" && e.style != contract.Actor { // a bench without styles need not know the default
		args = append(args, "style="+e.style)
	}
	return args
}

// run runs c once.
func (e Entrant) run(ctx context.Context, c Case, timeout time.Duration) (contract.Result, error) {
	output, err := execute(ctx, timeout, e.arguments(c))
	if err != nil {
		return contract.Result{}, err
	}
	return contract.ParseResult(output, c.Bench)
}

// execute runs a command to its end and returns its stdout. When ctx ends or the timeout expires, it kills the command and
// its children. The error includes the first line of the command's stderr.
func execute(ctx context.Context, timeout time.Duration, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdout, c.Stderr = &stdout, &stderr
	c.WaitDelay = 5 * time.Second // for a child outside the group that holds the pipes
	isolate(c)
	err := c.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if c.Process != nil {
		killGroup(c) // leftovers of a failed command
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("not done after %v", timeout)
	}
	return nil, fmt.Errorf("%w: %s", err, cmp.Or(firstLine(stderr.String()), "nothing on stderr"))
}

// longestLine is the maximum length of a shown line, in characters.
const longestLine = 200

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > longestLine {
		return string(runes[:longestLine]) + "…"
	}
	return line
}
