package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// sourceOnly makes the loader read the types of all packages, imports included, from their source. The go command then
// compiles nothing: to compile the repository for one more system takes minutes, and gigabytes of its cache.
const sourceOnly = packages.NeedName | packages.NeedModule | packages.NeedFiles | packages.NeedCompiledGoFiles |
	packages.NeedImports | packages.NeedDeps | packages.NeedSyntax |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo

// vetted lists what of go vet is looked for beside types: mistakes in the files that only another system or tag has, such as a
// shift by more bits than an integer has there. The others of vet need what they find out about imports, which takes long.
var vetted = []*analysis.Analyzer{assign.Analyzer, atomic.Analyzer, bools.Analyzer, copylock.Analyzer, nilfunc.Analyzer,
	shift.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer}

// typesFor returns a step that checks the types of packages and their tests for another system or processor, set by env, or
// with a build tag, set by a flag; and what vetted has.
func typesFor(env, flag string, patterns ...string) func(r *run) error {
	return func(r *run) error {
		cfg := &packages.Config{Mode: sourceOnly, Context: r.ctx, Dir: r.root, Tests: true,
			Env: append(append(os.Environ(), environment()...), "CGO_ENABLED=0")}
		if env != "" {
			cfg.Env = append(cfg.Env, env)
		}
		if flag != "" {
			cfg.BuildFlags = []string{flag}
		}
		fmt.Fprintf(r.log, "types of %s with %s %s\n", strings.Join(patterns, " "), env, flag)
		loaded, err := packages.Load(cfg, patterns...)
		if err != nil {
			return err
		}
		found := typeErrors(loaded)
		if len(found) == 0 {
			if found, err = vetErrors(loaded); err != nil {
				return err
			}
		}
		if len(found) == 0 {
			return nil
		}
		for _, f := range found {
			fmt.Fprintln(r.log, f)
		}
		return errors.New(strings.Join(found[:min(len(found), 40)], "\n"))
	}
}

// typeErrors returns the errors in packages and their imports, each once: a package with tests is loaded several times.
func typeErrors(loaded []*packages.Package) (found []string) {
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// vetErrors returns what the analyzers of vetted find.
func vetErrors(loaded []*packages.Package) (found []string, err error) {
	g, err := checker.Analyze(vetted, loaded, nil)
	if err != nil {
		return nil, err
	}
	for a := range g.All() {
		if a.Err != nil {
			return nil, a.Err
		}
		for _, d := range a.Diagnostics {
			found = append(found, fmt.Sprintf("%v: %s", a.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
