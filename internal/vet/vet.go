package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/unitchecker"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer finds one kind of misuse.
type Analyzer = analysis.Analyzer

// Analyzers returns all analyzers, sorted by name.
func Analyzers() []*Analyzer {
	return []*Analyzer{AfterSend, Blocking, ContextEscape, Ignore, LostFuture, NoDefault, NoReply}
}

// IsTool reports whether go vet has started the program as its tool: with -V=full, -flags, or flags and the file of a
// package. args does not include the program's name.
func IsTool(args []string) bool {
	if len(args) == 1 && (args[0] == "-V=full" || args[0] == "-flags") {
		return true
	}
	return len(args) > 0 && strings.HasSuffix(args[len(args)-1], ".cfg") && (len(args) == 1 || strings.HasPrefix(args[0], "-"))
}

// Tool runs as the tool of go vet, and ends the program.
func Tool() {
	unitchecker.Main(Analyzers()...)
	os.Exit(0)
}

// Check runs all analyzers on a type-checked package, and calls report for each finding.
func Check(set *token.FileSet, files []*ast.File, pkg *types.Package, info *types.Info,
	report func(at token.Pos, text string)) error {
	in := inspector.New(files)
	for _, a := range Analyzers() {
		_, err := a.Run(&analysis.Pass{
			Analyzer: a, Fset: set, Files: files, Pkg: pkg, TypesInfo: info,
			ResultOf: map[*Analyzer]any{inspect.Analyzer: in},
			Report:   func(d analysis.Diagnostic) { report(d.Pos, a.Name+": "+d.Message) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pass is one run of an analyzer on a package.
type pass struct {
	*analysis.Pass
	directives *directives
	in         *inspector.Inspector
}

// analyzer makes an analyzer that honours directives. It skips packages that do not use package node.
func analyzer(name, doc string, run func(*pass)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: strings.TrimSpace(doc),
		URL:      "https://github.com/actornode/actornode/blob/main/docs/guides/vet.md",
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(p *analysis.Pass) (any, error) {
			if !usesNode(p.Pkg) {
				return nil, nil
			}
			d := readDirectives(p)
			run(&pass{p, d, p.ResultOf[inspect.Analyzer].(*inspector.Inspector)})
			return nil, nil
		},
	}
}

// report reports the code at a node, unless a directive silences it.
func (p *pass) report(at analysis.Range, format string, args ...any) {
	if !p.directives.silence(p.Analyzer.Name, p.Fset.Position(at.Pos())) {
		p.ReportRangef(at, format, args...)
	}
}

// inTest reports whether a node is in a test file.
func (p *pass) inTest(at analysis.Range) bool {
	return strings.HasSuffix(p.Fset.File(at.Pos()).Name(), "_test.go")
}
