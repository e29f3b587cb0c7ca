package vet

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const ignorePrefix = "//actornode:ignore"

// Ignore finds incomplete directives.
var Ignore *analysis.Analyzer

func init() { // it refers to all analyzers, including itself
	Ignore = analyzer("ignore", `
find //actornode:ignore and //actornode:blocks comments without a reason

	//actornode:ignore NAME reason

silences the reports of one analyzer on its line, or on the line below if it is alone on its line.
//actornode:blocks reason, above a function or type, tells the analyzer blocking that its
handlers may block. Readers of the code need to know why: a comment without a reason, or without the name of
an analyzer, is reported. Add the reason, or fix the reported code.`, runIgnore)
}

func runIgnore(p *pass) {
	known := make(map[string]bool)
	for _, a := range Analyzers() {
		known[a.Name] = true
	}
	for _, d := range p.directives.ignores {
		switch {
		case d.name == "":
			p.ReportRangef(d.comment, "the comment names no analyzer: write //actornode:ignore NAME reason")
		case !known[d.name]:
			p.ReportRangef(d.comment, "there is no analyzer %q: actornode vet --help lists them", d.name)
		case d.reason == "":
			p.ReportRangef(d.comment, "the comment does not say why: write the reason after //actornode:ignore %s", d.name)
		}
	}
	for _, file := range p.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if reason, ok := directive(comment, blocksPrefix); ok && reason == "" {
					p.ReportRangef(comment, "the comment does not say why: write the reason after //actornode:blocks")
				}
			}
		}
	}
}

// directive parses a comment that starts with word.
func directive(comment *ast.Comment, word string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(comment.Text, word)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, " // want ") // from analyzer tests
	return strings.TrimSpace(rest), true
}

// ignore is one comment that silences reports.
type ignore struct {
	comment      *ast.Comment
	name, reason string
}

// line is a line of a file.
type line struct {
	file string
	line int
}

// directives holds the directives of a package.
type directives struct {
	ignores []ignore
	silent  map[line]map[string]bool // names of analyzers, by the line that they apply to
}

// silence reports whether the reports of an analyzer are silenced at a position.
func (d *directives) silence(analyzer string, at token.Position) bool {
	return d.silent[line{at.Filename, at.Line}][analyzer]
}

func readDirectives(p *analysis.Pass) *directives {
	d := &directives{silent: make(map[line]map[string]bool)}
	for _, file := range p.Files {
		var code map[int]bool
		for _, group := range file.Comments {
			for _, comment := range group.List {
				i, ok := readIgnore(comment)
				if !ok {
					continue
				}
				if code == nil {
					code = codeLines(p.Fset, file)
				}
				at := p.Fset.Position(comment.Pos())
				if !code[p.Fset.PositionFor(comment.Pos(), false).Line] { // alone on its line: it applies to the line below
					at.Line = p.Fset.Position(group.End()).Line + 1
				}
				d.add(line{at.Filename, at.Line}, i)
			}
		}
	}
	return d
}

func (d *directives) add(at line, i ignore) {
	d.ignores = append(d.ignores, i)
	if d.silent[at] == nil {
		d.silent[at] = make(map[string]bool)
	}
	d.silent[at][i.name] = true
}

func readIgnore(comment *ast.Comment) (ignore, bool) {
	rest, ok := directive(comment, ignorePrefix)
	name, reason, _ := strings.Cut(rest, " ")
	return ignore{comment, name, strings.TrimSpace(reason)}, ok
}

// codeLines returns the lines of a file on which something other than a comment begins or ends. It ignores //line
// directives.
func codeLines(set *token.FileSet, file *ast.File) map[int]bool {
	lines := make(map[int]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File:
		case *ast.Comment, *ast.CommentGroup:
			return false
		default:
			lines[set.PositionFor(n.Pos(), false).Line] = true
			lines[set.PositionFor(n.End()-1, false).Line] = true
		}
		return true
	})
	return lines
}
