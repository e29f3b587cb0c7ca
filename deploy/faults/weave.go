package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// planted is the environment variable that selects the fault in a program with all of them.
const planted = "ACTORNODE_FAULT"

// chooser is the text of the file added to each package that faults change.
const chooser = "package %s\n\nimport \"os\"\n\nvar faultPlanted = os.Getenv(%q)\n"

// weave puts all faults into the tree at root at once, so that it is compiled only once. A changed function exists several
// times, unchanged and with each fault, and starts by checking which one the environment selects. The result has the
// changed files, and a new one for each package. Names are relative to root.
func weave(root string, faults []fault) (map[string]string, error) {
	type place struct{ file, function string }
	with := map[place][]fault{}
	files := map[string]string{}
	for _, f := range faults {
		for _, e := range f.edits {
			p := place{e.file, e.function}
			if !slices.ContainsFunc(with[p], func(g fault) bool { return g.name == f.name }) {
				with[p] = append(with[p], f)
			}
			if _, read := files[e.file]; !read {
				text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
				if err != nil {
					return nil, fmt.Errorf("%s: does not apply: %w", f.name, err)
				}
				files[e.file] = string(text)
			}
		}
	}
	woven := map[string]string{}
	for file, text := range files {
		w := weaver{text: text}
		for p, faults := range with {
			if p.file != file {
				continue
			}
			if err := w.function(file, p.function, faults); err != nil {
				return nil, err
			}
		}
		var name string
		woven[file], name = w.result()
		woven[path.Join(path.Dir(file), "fault_planted.go")] = fmt.Sprintf(chooser, name, planted)
	}
	return woven, nil
}

// A weaver weaves faults into one file.
type weaver struct {
	text    string
	inserts []insert
	copies  strings.Builder // of functions, with faults
}

// An insert replaces the text between two offsets.
type insert struct {
	from, to int
	text     string
}

// function weaves the faults of one function.
func (w *weaver) function(file, function string, faults []fault) error {
	d, err := declared(w.text, function)
	if err != nil {
		return fmt.Errorf("%s: does not apply: %s, func %s: %w", faults[0].name, file, function, err)
	}
	call, result := w.call(d)
	for _, f := range faults {
		text := w.text
		for _, e := range f.edits {
			if e.file != file || e.function != function {
				continue
			}
			if text, err = e.apply(text); err != nil {
				return fmt.Errorf("%s: does not apply: %s, func %s: %w", f.name, file, function, err)
			}
		}
		suffix := "_fault_" + strings.ReplaceAll(f.name, "-", "_")
		changed, err := declared(text, function)
		if err != nil {
			return fmt.Errorf("%s: %s, func %s, with the fault: %w", f.name, file, function, err)
		}
		from, name, to := offset(changed.Pos()), offset(changed.Name.End()), offset(changed.End())
		w.copies.WriteString("\n" + text[from:name] + suffix + text[name:to] + "\n")
		code := "\nif faultPlanted == \"" + f.name + "\" {\n" + result + call[0] + suffix + call[1] + "\n"
		if result == "" {
			code += "return\n"
		}
		body := offset(d.Body.Lbrace) + 1
		w.inserts = append(w.inserts, insert{body, body, code + "}\n"})
	}
	return nil
}

// offset converts a position in the only file of a FileSet to an offset: positions count from 1.
func offset(p token.Pos) int { return int(p) - 1 }

// declared finds a function in the text of a file.
func declared(text, function string) (*ast.FuncDecl, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && nameOf(d) == function {
			return d, nil
		}
	}
	return nil, errors.New("the file has no function of that name")
}

// call returns a call of the function with its own parameters, split where a suffix is added to its name, and the prefix
// that returns its result. It names unnamed parameters.
func (w *weaver) call(d *ast.FuncDecl) (call [2]string, result string) {
	n := 0
	names := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, f := range list.List {
			dots := ""
			if _, variadic := f.Type.(*ast.Ellipsis); variadic {
				dots = "..."
			}
			if len(f.Names) == 0 {
				n++
				name := fmt.Sprintf("faultArg%d", n)
				w.inserts = append(w.inserts, insert{offset(f.Type.Pos()), offset(f.Type.Pos()), name + " "})
				all = append(all, name+dots)
			}
			for _, id := range f.Names {
				name := id.Name
				if name == "_" {
					n++
					name = fmt.Sprintf("faultArg%d", n)
					w.inserts = append(w.inserts, insert{offset(id.Pos()), offset(id.End()), name})
				}
				all = append(all, name+dots)
			}
		}
		return all
	}
	if d.Recv != nil {
		call[0] = names(d.Recv)[0] + "."
	}
	call[0] += d.Name.Name
	if types := d.Type.TypeParams; types != nil && d.Recv == nil {
		var all []string
		for _, f := range types.List {
			for _, id := range f.Names {
				all = append(all, id.Name)
			}
		}
		call[1] = "[" + strings.Join(all, ", ") + "]"
	}
	call[1] += "(" + strings.Join(names(d.Type.Params), ", ") + ")"
	if d.Type.Results != nil && len(d.Type.Results.List) > 0 {
		result = "return "
	}
	return call, result
}

// result returns the text of the file, and the name of its package.
func (w *weaver) result() (text, name string) {
	sort.SliceStable(w.inserts, func(i, j int) bool { return w.inserts[i].from > w.inserts[j].from })
	text = w.text
	for _, i := range w.inserts {
		text = text[:i.from] + i.text + text[i.to:]
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", w.text, parser.PackageClauseOnly)
	if err == nil {
		name = file.Name.Name
	}
	return text + w.copies.String(), name
}
