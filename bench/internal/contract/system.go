package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The exit statuses of a run.
const (
	Done      = 0
	Failed    = 1 // the bench's own check
	Misused   = 2 // unknown bench, unknown or malformed parameter
	NoTooling = 3 // a peer's run script: its tools are not installed, or its modules cannot be downloaded
)

// Bench is one entry of a system's table.
type Bench struct {
	Name   string
	About  string // a few words for the list
	Params []Param

	// Ops is the number of operations of a run with p.
	Ops func(p Params) int

	// Run does the work, calls m's Start and Stop around the timed part of it,
	// and checks its own result: an error means that the check failed.
	Run func(p Params, m *Meter) error

	// Far is the far end of a bench between two OS processes, nil for other benches. It runs in the OS process of [Far]
	// until it returns.
	Far func(args []string) error
}

// System is a program with benches.
type System struct {
	Name    string // as in the result's "system"
	Version string
	Benches []Bench
}

// far is the first argument for the far end of a bench; no bench has this name.
const far = "far-end"

// Far returns a command that runs the Far function of the bench name with args in another OS process of this program. The
// caller starts it and waits for it.
func Far(name string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, append([]string{far, name}, args...)...)
	c.Stderr = os.Stderr
	return c, nil
}

// Main runs one command line, without the program's name, and returns the exit
// status.
func (s System) Main(args []string, stdout, stderr io.Writer) int {
	growHeap()
	err := s.command(args, stdout)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, ErrUsage):
		fmt.Fprintln(stderr, err)
		return Misused
	default:
		fmt.Fprintln(stderr, err)
		return Failed
	}
}

func (s System) command(args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: BENCH [key=value ...] | list", ErrUsage)
	}
	if args[0] == "list" {
		return s.list(stdout)
	}
	if args[0] == far && len(args) > 1 {
		if b, ok := s.bench(args[1]); ok && b.Far != nil {
			return b.Far(args[2:])
		}
	}
	b, ok := s.bench(args[0])
	if !ok {
		return fmt.Errorf("%w: unknown bench %q (there are: %s)", ErrUsage, args[0], strings.Join(s.names(), ", "))
	}
	result, err := s.run(b, args[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	line, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	_, err = fmt.Fprintf(stdout, "%s\n", line)
	return err
}

func (s System) run(b Bench, args []string) (Result, error) {
	p, err := Parse(b.Params, args)
	if err != nil {
		return Result{}, err
	}
	m := newMeter(time.Now)
	if err := b.Run(p, m); err != nil {
		return Result{}, fmt.Errorf("check failed: %w", err)
	}
	if err := m.check(); err != nil {
		return Result{}, err
	}
	ops := b.Ops(p)
	if ops <= 0 {
		return Result{}, fmt.Errorf("%d ops", ops)
	}
	r := Result{System: s.Name, Version: s.Version, Bench: b.Name, Params: p.fields, Extra: m.extra}
	r.PeakRSSMiB = round(float64(PeakRSS()) / (1 << 20))
	return r.measured(ops, m.Spent()), nil
}

// list writes a line for each bench: its name, its parameters with their defaults, and its description.
func (s System) list(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, b := range s.Benches {
		fmt.Fprintf(t, "%s\t%s\t%s\n", b.Name, Describe(b.Params), b.About)
	}
	return t.Flush()
}

// Has reports whether the system has a bench of that name with that style.
func (s System) Has(name, style string) bool {
	b, ok := s.bench(name)
	return ok && slices.Contains(b.styles(), style)
}

func (b Bench) styles() []string {
	for _, p := range b.Params {
		if p.Key == "style" {
			return p.words
		}
	}
	return []string{Actor}
}

func (s System) bench(name string) (Bench, bool) {
	i := slices.IndexFunc(s.Benches, func(b Bench) bool { return b.Name == name })
	if i < 0 {
		return Bench{}, false
	}
	return s.Benches[i], true
}

func (s System) names() []string {
	names := make([]string, len(s.Benches))
	for i, b := range s.Benches {
		names[i] = b.Name
	}
	return names
}

// Validate checks the table itself; a system's tests call it.
func (s System) Validate() error {
	seen := map[string]bool{"list": true, "compare": true, far: true}
	for _, b := range s.Benches {
		if b.Name == "" || b.Ops == nil || b.Run == nil || seen[b.Name] {
			return fmt.Errorf("contract: bench %q has no name of its own, no Ops or no Run", b.Name)
		}
		seen[b.Name] = true
		keys := map[string]bool{}
		for _, p := range b.Params {
			if keys[p.Key] {
				return fmt.Errorf("contract: bench %q declares %s twice", b.Name, p.Key)
			}
			keys[p.Key] = true
			if _, err := p.parse(fmt.Sprint(p.standard())); err != nil {
				return fmt.Errorf("contract: bench %q: default: %w", b.Name, err)
			}
		}
	}
	return nil
}
