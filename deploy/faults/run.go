package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A runner runs go test on the tree at root, with and without faults.
type runner struct {
	root    string
	timeout time.Duration // of one package
	single  time.Duration // of tests chosen by name
	quiet   time.Duration // how long a program with all faults may print nothing
	healthy map[string]bool
	log     func(format string, args ...any)

	innocent map[test]bool // have failed for a reason other than the current fault
	programs *programs     // of tests with all faults; nil if each fault has its own
}

// A test is one test function, of a package.
type test struct{ Package, Name string }

// An outcome is the result of a run of go test.
type outcome struct {
	failed []test // top-level tests, in the order in which they failed
	broken string // the output of a build that failed
}

// overlay writes the changed files and the overlay JSON that substitutes them in the tree. It returns the path of the JSON.
func (r *runner) overlay(changed map[string]string, folder string) (string, error) {
	replace := map[string]string{}
	for file, text := range changed {
		place := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(place, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(r.root, filepath.FromSlash(file))] = place
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// command makes a command in the tree. The overlay is in GOFLAGS, so that programs built by a test have the fault as well.
func (r *runner) command(overlay, tier string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = r.root
	flags := os.Getenv("GOFLAGS")
	if overlay != "" {
		flags = strings.TrimSpace(flags + " -overlay=" + overlay)
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ACTORNODE_TESTS=") && !strings.HasPrefix(v, "PWD=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GOFLAGS="+flags, "PWD="+r.root)
	if tier != "" && tier != tierTest {
		cmd.Env = append(cmd.Env, "ACTORNODE_TESTS="+tier)
	}
	return cmd
}

// build compiles the packages with the fault, and returns the errors of the compiler.
func (r *runner) build(overlay string, paths []string) error {
	if out, err := r.command(overlay, "", append([]string{"go", "build"}, paths...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %s", strings.TrimSpace(string(out)))
	}
	return nil
}

// A tree is the source that tests run on: the zero value is the tree at root, others have a fault.
type tree struct {
	overlay string // the path of the JSON
	fault   string // its name
}

// A choice selects tests of a package: those whose names match only, except those in skip.
type choice struct {
	only string // a regular expression; "": all
	skip []string
}

func (c choice) skipped() string { return "^(" + strings.Join(c.skip, "|") + ")$" }

// test runs tests of the packages.
func (r *runner) test(in tree, tier string, c choice, paths []string) outcome {
	if r.programs != nil {
		return r.programs.test(r, in, tier, c, paths)
	}
	args, timeout := []string{"go", "test", "-json", "-vet=off", "-failfast"}, r.timeout
	if c.only != "" {
		args, timeout = append(args, "-count=1", "-run", c.only), min(timeout, r.single)
	}
	if len(c.skip) > 0 {
		args = append(args, "-skip", c.skipped())
	}
	return r.run(r.command(in.overlay, tier, append(append(args, "-timeout", timeout.String()), paths...)...))
}

// run runs a command that prints the output of go test -json.
func (r *runner) run(cmd *exec.Cmd) outcome {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	o := read(out.Bytes())
	if err != nil && o.broken == "" && len(o.failed) == 0 {
		r.log("  no test is to blame: %v: %s", err, lastLines(text(out.Bytes()), 12))
	}
	return o
}

// An event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// read returns the tests that failed. If the program of a package ended without naming one (a crash, a timeout), those that
// were running count.
func read(out []byte) outcome {
	var o outcome
	running := map[string][]string{}
	blamed := map[string]bool{}
	var building strings.Builder
	for _, line := range bytes.Split(out, []byte("\n")) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		name, _, part := strings.Cut(e.Test, "/")
		t := test{e.Package, name}
		switch {
		case e.Action == "build-output":
			building.WriteString(e.Output)
		case e.Action == "build-fail":
			o.broken = building.String()
		case e.Action == "run" && !part:
			running[e.Package] = append(running[e.Package], name)
		case (e.Action == "pass" || e.Action == "skip") && name != "" && !part:
			running[e.Package] = slices.DeleteFunc(running[e.Package], func(other string) bool { return other == name })
		case e.Action == "fail" && name != "": // of a subtest: after a timeout there is nothing else
			blamed[e.Package] = true
			if !slices.Contains(o.failed, t) {
				o.failed = append(o.failed, t)
			}
		case e.Action == "fail" && e.Test == "" && !blamed[e.Package]:
			for _, name := range running[e.Package] {
				o.failed = append(o.failed, test{e.Package, name})
			}
		}
	}
	return o
}

// text returns the output of the tests.
func text(out []byte) string {
	var b strings.Builder
	for _, line := range bytes.Split(out, []byte("\n")) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			b.Write(append(line, '\n'))
		}
		b.WriteString(e.Output)
	}
	return b.String()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// fails reports whether a test fails when run alone.
func (r *runner) fails(in tree, tier string, t test) bool {
	o := r.test(in, tier, choice{only: "^" + t.Name + "$"}, []string{t.Package})
	return slices.Contains(o.failed, t)
}

// blames reports whether the fault makes the test fail: with the fault it fails again, in one of three runs, and without it
// it passes.
func (r *runner) blames(in tree, tier string, t test) bool {
	again := false
	for i := 0; i < 3 && !again; i++ {
		again = r.fails(in, tier, t)
	}
	if !again {
		r.log("  %s %s failed once, and not again", t.Package, t.Name)
		return false
	}
	if r.passes(tier, t) {
		return true
	}
	r.log("  %s %s fails without the fault, too", t.Package, t.Name)
	return false
}

// passes reports whether a test passes without a fault.
func (r *runner) passes(tier string, t test) bool {
	key := tier + " " + t.Package + " " + t.Name
	if _, known := r.healthy[key]; !known {
		r.healthy[key] = !r.fails(tree{}, tier, t)
	}
	return r.healthy[key]
}

// hunt looks for the first test that catches the fault. It tries the test that caught it in an earlier run first; in a
// results file written by hand its name may be a regular expression.
func (r *runner) hunt(in tree, tier string, hint test, cut [][]pkg) (test, error) {
	if hint.Name != "" {
		o := r.test(in, tier, choice{only: "^(" + hint.Name + ")$"}, []string{hint.Package})
		if t, ok := r.blamed(in, tier, o); ok {
			return t, nil
		}
	}
	for _, batch := range cut {
		var paths []string
		for _, p := range batch {
			paths = append(paths, p.ImportPath)
		}
		t, ok, err := r.search(in, tier, paths)
		if ok || err != nil {
			return t, err
		}
	}
	return test{}, nil
}

// mostInnocent is how many tests of a package may fail for other reasons than the fault before the package is given up.
const mostInnocent = 10

// search looks for a test of the packages that catches the fault. If a test fails for another reason, the package runs
// again without it, since the first failure ends a run.
func (r *runner) search(in tree, tier string, paths []string) (t test, ok bool, err error) {
	o := r.test(in, tier, choice{}, paths)
	for n := 0; ; n++ {
		if o.broken != "" {
			return t, false, fmt.Errorf("does not compile: %s", lastLines(o.broken, 20))
		}
		if t, ok = r.blamed(in, tier, o); ok || len(o.failed) == 0 || n == mostInnocent {
			return t, ok, nil
		}
		var c choice
		paths = nil
		for _, t := range o.failed {
			r.innocent[t] = true
			if !slices.Contains(paths, t.Package) {
				paths = append(paths, t.Package)
			}
		}
		for t := range r.innocent {
			if slices.Contains(paths, t.Package) {
				c.skip = append(c.skip, t.Name)
			}
		}
		o = r.test(in, tier, c, paths)
	}
}

// blamed returns the first test that failed because of the fault.
func (r *runner) blamed(in tree, tier string, o outcome) (test, bool) {
	for _, t := range o.failed {
		if r.blames(in, tier, t) {
			return t, true
		}
	}
	return test{}, false
}
