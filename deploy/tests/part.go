package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is a part of a tier that can be run alone.
type part struct {
	name  string
	what  string   // its description, for list
	needs []string // programs required to run it
	do    func(r *run) error
}

// tier is a list of parts.
type tier struct {
	name  string
	what  string
	parts []part
}

// choose returns the named parts of a tier, or all of them.
func choose(tierName string, names []string) ([]part, error) {
	i := slices.IndexFunc(tiers, func(t tier) bool { return t.name == tierName })
	if i < 0 {
		return nil, fmt.Errorf("no tier %q; %s", tierName, usage)
	}
	if len(names) == 0 {
		return tiers[i].parts, nil
	}
	var chosen []part
	for _, name := range names {
		k := slices.IndexFunc(tiers[i].parts, func(p part) bool { return p.name == name })
		if k < 0 {
			return nil, fmt.Errorf("no part %q in %s: go run ./deploy/tests list has them", name, tierName)
		}
		chosen = append(chosen, tiers[i].parts[k])
	}
	return chosen, nil
}

func list(w io.Writer) {
	for _, t := range tiers {
		fmt.Fprintf(w, "%s: %s\n", t.name, t.what)
		for _, p := range t.parts {
			fmt.Fprintf(w, "  %-12s %s\n", p.name, p.what)
		}
	}
}

// run is one run of parts.
type run struct {
	ctx  context.Context
	root string
	tier string
	logs string // a directory
	out  io.Writer

	log     *os.File // of the running part
	tests   tally    // of all parts
	left    map[string]int
	seconds map[string]float64 // time of each package in the part tests
	rows    []row
}

// row is a line of the table of parts.
type row struct {
	name, result string
	took         time.Duration
}

func newRun(root, tier string) *run {
	return &run{root: root, tier: tier, out: os.Stdout, left: map[string]int{}, seconds: map[string]float64{}}
}

var errParts = errors.New("not all parts have passed")

// all runs parts one after the other, and prints the results.
func (r *run) all(ctx context.Context, parts []part) (err error) {
	r.ctx = ctx
	if r.logs, err = os.MkdirTemp("", "actornode-"+r.tier+"-"); err != nil {
		return err
	}
	failed := false
	for _, p := range parts {
		if !r.one(p) {
			failed = true
		}
	}
	r.report()
	if failed {
		if r.diskFull() {
			fmt.Fprintf(r.out, "The disk is full: free space in %s and in the build cache (go env GOCACHE), or set TMPDIR and GOCACHE.\n",
				os.TempDir())
		}
		return fmt.Errorf("%w; logs are in %s", errParts, r.logs)
	}
	return os.RemoveAll(r.logs)
}

// one runs a part, and reports whether it passed or was left out.
func (r *run) one(p part) bool {
	begun := time.Now()
	done := func(result string) {
		took := time.Since(begun).Round(time.Second / 10)
		r.rows = append(r.rows, row{p.name, result, took})
		fmt.Fprintf(r.out, "%s: %s in %v\n", p.name, result, took)
	}
	if r.ctx.Err() != nil {
		r.rows = append(r.rows, row{p.name, "interrupted", 0})
		return false
	}
	for _, program := range p.needs {
		if program == compiler {
			program = cCompiler()
		}
		if _, err := exec.LookPath(program); err != nil {
			r.rows = append(r.rows, row{p.name, "left out: " + program + " is not installed", 0})
			r.left[program]++
			return true
		}
	}
	fmt.Fprintf(r.out, "%s ...\n", p.name)
	log, err := os.Create(filepath.Join(r.logs, p.name+".log"))
	if err == nil {
		r.log = log
		err = p.do(r)
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		fmt.Fprintf(r.out, "%s: %v\n", p.name, err)
		done("FAILED")
		return false
	}
	done("passed")
	return true
}

// compiler means in part.needs the C compiler used by the go command: the race detector needs one.
const compiler = "a C compiler"

func cCompiler() string {
	out, err := exec.Command("go", "env", "CC").Output()
	if words := strings.Fields(string(out)); err == nil && len(words) > 0 {
		return words[0]
	}
	return "cc"
}

// report prints the table of parts, the slowest packages, what was left out, and the count.
func (r *run) report() {
	fmt.Fprintln(r.out)
	for _, w := range r.rows {
		fmt.Fprintf(r.out, "%-12s %8v  %s\n", w.name, w.took, w.result)
	}
	r.reportPackages()
	if line := r.leftOut(); line != "" {
		fmt.Fprintf(r.out, "\n%s\n", line)
	}
	if t := r.tests; t.passed+t.failed+t.skipped > 0 { // otherwise the parts are not Go tests
		fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	}
}

// diskFull reports whether a part has failed because a disk is full.
func (r *run) diskFull() bool {
	for _, w := range r.rows {
		log, err := os.ReadFile(filepath.Join(r.logs, w.name+".log"))
		if errors.Is(err, syscall.ENOSPC) || strings.Contains(string(log), syscall.ENOSPC.Error()) {
			return true
		}
	}
	return false
}

// command runs a program in a directory of the repository. Its output goes to the log; the error has the last lines.
func (r *run) command(dir string, env []string, name string, args ...string) error {
	var out bytes.Buffer
	err := r.start(dir, env, io.MultiWriter(r.log, &out), name, args...)
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, lastLines(out.String(), 40))
	}
	return nil
}

// start runs a program to its end with its output to w.
func (r *run) start(dir string, env []string, w io.Writer, name string, args ...string) error {
	fmt.Fprintf(r.log, "%s %s %s\n", dir, name, strings.Join(args, " "))
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Dir = filepath.Join(r.root, dir)
	cmd.Env = append(append(os.Environ(), environment()...), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Stdout, cmd.Stderr = w, w
	return cmd.Run()
}

// environment returns the variables of the go command for all parts: no profile, with which each main package would
// recompile all its imports; no version control, which may be missing; patience, since the machine may be busy.
func environment() []string {
	return []string{"GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" -pgo=off -buildvcs=false"), "GOWORK=",
		"NODETEST_TIMEOUT=5m"}
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// repository returns the directory with go.work.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.work here or above: run it in the repository")
		}
		dir = up
	}
}
