package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

// Trick is an optimization that a build can leave out: it relies on behaviour which Go, the kernel or the processor does
// not guarantee, or exists only for speed.
type Trick struct {
	Name  string   // as in the table
	Flags []string // flags of go build that leave it out
	Cases []Case   // cases that it may affect
}

func row(line string) Case {
	words := strings.Fields(line)
	return Case{Bench: words[0], Params: words[1:]}
}

func rows(lines ...string) (all []Case) {
	for _, line := range lines {
		all = append(all, row(line))
	}
	return all
}

// Tricks returns all tricks. The first combines all others except the profile.
func Tricks() []Trick {
	local := []string{"threadring", "latency", "fib"}
	remote := []string{"remote_latency", "remote_call callers=1", "remote_throughput", "remote_spawn spawns=10000"}
	return []Trick{
		{"all", []string{"-tags=actornode_portable"}, rows("threadring",
			"threadring style=coroutine", "fib", "flow messages=2000000",
			"etf_decode term=tuple", "etf_decode term=list times=5000", "remote_throughput", "remote_latency")},
		{"fiber", []string{"-tags=actornode_no_fiber"}, rows("threadring style=coroutine",
			"latency style=coroutine", "gencall style=coroutine", "coop style=active calls=20000")},
		{"box", []string{"-tags=actornode_no_box"}, rows("etf_decode term=tuple", "etf_decode term=list times=5000",
			"remote_throughput", "remote_latency")},
		{"words", []string{"-tags=actornode_no_words"}, rows("copy")},
		{"spin", []string{"-tags=actornode_no_spin"}, rows(remote...)},
		{"lowat", []string{"-tags=actornode_no_lowat"}, rows(remote...)},
		{"inline", []string{"-tags=actornode_no_inline"}, rows(remote...)},
		{"profile", []string{"-pgo=off"}, rows(append(local, "etf_decode term=tuple", "remote_throughput")...)},
	}
}

// ablationOptions are the command-line parameters of an ablation.
var ablationOptions = []contract.Param{
	contract.Int("rounds", 5),
	contract.Text("tricks", ""),
	contract.Text("benches", ""),
	contract.Int("quick", 0).Range(0, 1), // 1: tiny parameters
	contract.Int("timeout", 120),         // seconds a run
}

// ablation is a parsed command line.
type ablation struct {
	tricks  []Trick
	rounds  int
	timeout time.Duration
}

func newAblation(args []string) (ablation, error) {
	p, err := contract.Parse(ablationOptions, args)
	if err != nil {
		return ablation{}, err
	}
	a := ablation{tricks: Tricks(), rounds: p.Int("rounds"), timeout: time.Duration(p.Int("timeout")) * time.Second}
	var cases []Case
	var names []string
	for _, t := range a.tricks {
		names, cases = append(names, t.Name), append(cases, t.Cases...)
	}
	if names, err = choose(p, "tricks", names); err != nil {
		return ablation{}, err
	}
	wanted, err := choose(p, "benches", benches(cases))
	if err != nil {
		return ablation{}, err
	}
	a.tricks = slices.DeleteFunc(a.tricks, func(t Trick) bool { return !slices.Contains(names, t.Name) })
	for i, t := range a.tricks {
		a.tricks[i].Cases = slices.DeleteFunc(t.Cases, func(c Case) bool { return !slices.Contains(wanted, c.Bench) })
	}
	if p.Int("quick") == 1 {
		a.rounds = 1
		for i := range a.tricks {
			a.tricks[i].Cases = tiny(a.tricks[i].Cases)
		}
	}
	return a, nil
}

// tiny returns cases with the parameters of a smoke run, but their own style.
func tiny(cases []Case) (all []Case) {
	for _, c := range cases {
		at := slices.IndexFunc(Smoke(), func(s Case) bool { return s.Bench == c.Bench })
		s := Smoke()[at]
		for _, p := range c.Params {
			if strings.HasPrefix(p, "style=") {
				s.Params = append(s.Params, p)
			}
		}
		all = append(all, s)
	}
	return all
}

// Ablation builds the program in dir as it is, and once without each trick, runs the benches that the trick may affect with
// both in turn, and prints the gain. It returns the exit status.
func Ablation(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	a, err := newAblation(args)
	if err == nil {
		err = a.command(ctx, dir, stdout, stderr)
	}
	if err == nil {
		return contract.Done
	}
	fmt.Fprintln(stderr, "ablation:", err)
	if errors.Is(err, contract.ErrUsage) {
		return contract.Misused
	}
	return contract.Failed
}

func (a ablation) command(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	into, err := os.MkdirTemp("", "ablation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(into)
	build := func(name string, flags ...string) (Entrant, error) {
		fmt.Fprintf(stderr, "building %s\n", name)
		program := filepath.Join(into, strings.ReplaceAll(name, " ", "_"))
		c := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", program, ".")...)
		c.Dir, c.Stdout, c.Stderr = dir, stderr, stderr
		return Entrant{Name: name, command: []string{program}}, c.Run()
	}
	full, err := build("full")
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	without := make([]Entrant, len(a.tricks))
	for i, t := range a.tricks {
		if without[i], err = build("no "+t.Name, t.Flags...); err != nil {
			return fmt.Errorf("build without %s: %w", t.Name, err)
		}
	}
	pairs := a.pairs()
	for round := range a.rounds {
		for _, p := range pairs {
			fmt.Fprintf(stderr, "round %d: %s: %s\n", round+1, a.tricks[p.trick].Name, p.c.name())
			if err := p.run(ctx, full, without[p.trick], round, a.timeout); err != nil {
				return fmt.Errorf("%s: %s: %w", a.tricks[p.trick].Name, p.c.name(), err)
			}
		}
	}
	return a.write(stdout, pairs)
}

// pair is a case with and without a trick, and its runs.
type pair struct {
	trick         int
	c             Case
	full, without []measure
}

// measure is the cost of a run, in ns per operation.
type measure struct{ clock, cpu float64 }

func (a ablation) pairs() (all []*pair) {
	for i, t := range a.tricks {
		for _, c := range t.Cases {
			all = append(all, &pair{trick: i, c: c})
		}
	}
	return all
}

// run runs the case once with each build, in alternating order.
func (p *pair) run(ctx context.Context, full, without Entrant, round int, timeout time.Duration) error {
	for k := range 2 {
		e, into := full, &p.full
		if (k+round)%2 == 1 {
			e, into = without, &p.without
		}
		before := contract.ChildrenCPU()
		r, err := e.run(ctx, p.c, timeout)
		if err != nil {
			return err
		}
		cpu := float64(contract.ChildrenCPU()-before) / float64(max(1, r.Ops))
		*into = append(*into, measure{r.NsPerOp, cpu})
	}
	return nil
}

// buys returns the gain of the trick by one measure: the median of the rounds' ratios, and its interval.
func (p *pair) buys(of func(measure) float64) (mid, low, high float64) {
	var ratios []float64
	for i := range p.full {
		if of(p.full[i]) > 0 {
			ratios = append(ratios, of(p.without[i])/of(p.full[i]))
		}
	}
	if len(ratios) == 0 {
		return 0, 0, 0
	}
	low, high = interval(ratios)
	return median(ratios), low, high
}

// interval returns a range that contains the median of all rounds that there could be, with a probability of at least 95%: it
// leaves out as many of the smallest and the largest values as that allows. With fewer than six values it has all, and the
// probability is smaller.
func interval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n, drop := len(sorted), 0
	tail, term := 0.0, math.Pow(0.5, float64(n)) // how probable it is that at most i values, exactly i, are below the median
	for i := range n {
		if tail += term; 2*tail > 0.05 {
			break
		}
		drop = i
		term *= float64(n-i) / float64(i+1)
	}
	return sorted[drop], sorted[n-1-drop]
}

// write prints the table. Ratios above 1 mean that the trick helps.
func (a ablation) write(w io.Writer, pairs []*pair) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "without\tbench\tfull, ns\ttime\tinterval\tCPU\tinterval")
	for _, p := range pairs {
		clock, low, high := p.buys(func(m measure) float64 { return m.clock })
		cpu, cpuLow, cpuHigh := p.buys(func(m measure) float64 { return m.cpu })
		var full []float64
		for _, m := range p.full {
			full = append(full, m.clock)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%.2f\t%.2f–%.2f\t%.2f\t%.2f–%.2f\n",
			a.tricks[p.trick].Name, p.c.name(), median(full), clock, low, high, cpu, cpuLow, cpuHigh)
	}
	return t.Flush()
}
