// Package main plants faults in the product, one at a time, and reports which test catches each.
//
// A fault is a file in testdata: a mistake of a few lines that a maintainer could make, and that breaks one guarantee. The
// tests of the packages that depend on the changed one run on an overlay of the tree, the nearest package first, until one
// fails. A fault that no test catches reveals a missing test.
//
//	go run ./deploy/faults                        all faults
//	go run ./deploy/faults -resume                those without a result
//	go run ./deploy/faults -together              all, compiled once: far quicker
//	go run ./deploy/faults -tier test NAME...     some, with the quick tests only
//	go run ./deploy/faults -table docs/tests.md   and writes the table
//
// # The format of a fault
//
//	# One sentence: the guarantee that breaks.
//	file internal/kernel/process/link.go
//	func (*Process).Unlink
//	-	if !p.links.remove(pid) {
//	+	if false {
//
// Lines with - must occur in the function consecutively and exactly once; white space around a line does not count. Lines
// with + replace them. An empty line, or a - after a +, begins the next edit. A fault may name several functions and files.
// A fault that no longer applies to the tree is an error: rewrite it for the current code.
//
// # What counts as caught
//
// A test counts if it fails with the fault, fails again when run alone with it, and passes without it. If the test program
// crashes or times out, the tests that were running are tried. A fault that does not compile is an error.
//
// # Together
//
// With -together the program contains each changed function once unchanged and once with each fault; the environment
// variable ACTORNODE_FAULT selects the one to call. So everything is compiled once, not once per fault. The function is
// then a little slower and not inlined: a test that measures this may fail without a fault, and then counts for none.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const extension = ".fault"

type options struct {
	dir, faults, results, table, plain, tier, with, except string
	resume, build, together                                bool
	nearest                                                int
	timeout, quiet                                         time.Duration
}

func main() {
	o, names := flags()
	good, err := run(o, names)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func flags() (options, []string) {
	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.StringVar(&o.dir, "dir", ".", "the root of the tree in which the faults are planted")
	flag.StringVar(&o.faults, "faults", filepath.Join("deploy", "faults", "testdata"), "the folder of the faults")
	flag.StringVar(&o.results, "results", filepath.Join(cache, "actornode-tests", "faults.json"), "the file that keeps results")
	flag.StringVar(&o.table, "table", "", "a Markdown `file` that gets the table, between its markers")
	flag.StringVar(&o.plain, "text", "", "a `file` that gets the results, a line for each fault")
	flag.StringVar(&o.tier, "tier", "", "the tests that run: test, merge, or empty for test and then merge")
	flag.StringVar(&o.with, "with", "", "more `patterns` of packages, with commas: those of other modules of the workspace")
	flag.StringVar(&o.except, "except", "/deploy/,/bench/", "packages with one of these in their path do not run")
	flag.BoolVar(&o.resume, "resume", false, "leave out the faults that were caught in an earlier run, and have not changed")
	flag.BoolVar(&o.together, "together", false, "compile the tests once, with all faults in them")
	flag.BoolVar(&o.build, "build", false, "only compile the changed packages")
	flag.IntVar(&o.nearest, "nearest", 0, "run the tests of so many packages only, the nearest ones; 0: of all")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long the tests of one package may take")
	flag.DurationVar(&o.quiet, "quiet", 2*time.Minute, "with -together: tests that print nothing for so long hang")
	flag.Parse()
	return o, flag.Args()
}

// run executes the options. It returns true if each fault is caught.
func run(o options, names []string) (good bool, err error) {
	faults, err := chosen(o.faults, names)
	if err != nil {
		return false, err
	}
	if o.tier != "" && o.tier != tierTest && o.tier != tierMerge {
		return false, fmt.Errorf("-tier %s: test or merge", o.tier)
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return false, err
	}
	patterns := []string{"./..."}
	if o.with != "" {
		patterns = append(patterns, strings.Split(o.with, ",")...)
	}
	all, err := packages(o.dir, patterns)
	if err != nil {
		return false, err
	}
	results, err := readResults(o.results)
	if err != nil {
		return false, err
	}
	r := &runner{root: o.dir, timeout: o.timeout, single: 3 * time.Minute, quiet: o.quiet, healthy: map[string]bool{}, log: say}
	if o.together {
		if r.programs, err = newPrograms(r, faults, all); err != nil {
			return false, err
		}
		defer os.RemoveAll(r.programs.folder)
	}
	var list []result
	for _, f := range faults {
		before := results[f.name]
		if o.resume && before.Text == f.text && before.Tier != "" {
			list = append(list, before)
			continue
		}
		now := try(r, o, f, all, test{before.Package, before.Test})
		say("%-32s %s (%.0f s)", f.name, now.caught(), now.Seconds)
		list = append(list, now)
		if o.build {
			continue
		}
		results[f.name] = now
		if err := writeResults(o.results, results); err != nil {
			return false, err
		}
	}
	if o.build {
		return !slices.ContainsFunc(list, func(r result) bool { return r.Error != "" }), nil
	}
	return report(o, list)
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// report writes the requested files, and the last line.
func report(o options, list []result) (bool, error) {
	if o.plain != "" {
		if err := os.WriteFile(o.plain, []byte(plain(list)), 0o644); err != nil {
			return false, err
		}
	}
	if o.table != "" {
		text, err := os.ReadFile(o.table)
		if err != nil {
			return false, err
		}
		changed, err := table(string(text), list)
		if err != nil {
			return false, fmt.Errorf("%s: %w", o.table, err)
		}
		if err := os.WriteFile(o.table, []byte(changed), 0o644); err != nil {
			return false, err
		}
	}
	line, good := summary(list)
	say("%s", line)
	return good, nil
}

// chosen reads the faults with the names, or all.
func chosen(folder string, names []string) ([]fault, error) {
	all, err := loadAll(folder)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var some []fault
	for _, name := range names {
		i := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %s in %s", name, folder)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// try plants one fault and looks for the test that catches it.
func try(r *runner, o options, f fault, all []pkg, hint test) result {
	start := time.Now()
	res := result{Fault: f.name, Breaks: f.breaks, Text: f.text}
	caught, tier, ran, err := plant(r, o, f, all, hint)
	if err != nil {
		res.Error = err.Error()
	} else if tier == "" {
		res.Packages = ran
	}
	res.Tier, res.Package, res.Test, res.Seconds = tier, caught.Package, caught.Name, time.Since(start).Seconds()
	return res
}

// plant plants a fault and looks for the test that catches it. ran is the number of packages whose tests ran.
func plant(r *runner, o options, f fault, all []pkg, hint test) (caught test, tier string, ran int, err error) {
	changed, err := f.apply(r.root)
	if err != nil {
		return test{}, "", 0, err
	}
	touched, paths := f.packages()
	in := tree{fault: f.name}
	if r.programs == nil {
		folder, err := os.MkdirTemp("", "fault")
		if err != nil {
			return test{}, "", 0, err
		}
		defer os.RemoveAll(folder)
		if in.overlay, err = r.overlay(changed, folder); err != nil {
			return test{}, "", 0, err
		}
		if err := r.build(in.overlay, paths); err != nil || o.build {
			return test{}, "", 0, err
		}
	}
	tiers := []string{tierTest, tierMerge}
	if o.tier != "" {
		tiers = []string{o.tier}
	}
	run := near(all, touched, strings.Split(o.except, ","))
	if o.nearest > 0 {
		run = run[:min(o.nearest, len(run))]
	}
	r.innocent = map[test]bool{}
	for _, tier := range tiers {
		caught, err := r.hunt(in, tier, hint, batches(run, 4, 150_000))
		if err != nil || caught.Name != "" {
			return caught, tier, 0, err
		}
	}
	return test{}, "", len(run), nil
}

// packages returns the packages that the fault changes.
func (f fault) packages() (changed map[string]bool, paths []string) {
	changed = map[string]bool{}
	for _, e := range f.edits {
		p := path.Join(strings.TrimSuffix(module, "/"), path.Dir(e.file))
		if !changed[p] {
			changed[p], paths = true, append(paths, p)
		}
	}
	return changed, paths
}
