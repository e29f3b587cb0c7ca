package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// A fault is one planted mistake: the guarantee it breaks, and its edits.
type fault struct {
	name   string
	breaks string // one sentence
	text   string // the whole file
	edits  []edit
}

// An edit replaces lines of one function. The old lines must occur there consecutively and exactly once; white space around
// a line does not count.
type edit struct {
	file     string // relative to the root, with slashes
	function string // Name, T.Name or (*T).Name
	old, new []string
}

// load reads the fault at path. Its name is that of the file, without the extension.
func load(path string) (fault, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return fault{}, err
	}
	f, err := parse(string(text))
	if err != nil {
		return fault{}, fmt.Errorf("%s: %w", path, err)
	}
	f.name = strings.TrimSuffix(filepath.Base(path), extension)
	return f, nil
}

// loadAll reads the faults of a folder, in the order of their names.
func loadAll(folder string) ([]fault, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*"+extension))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var all []fault
	for _, path := range paths {
		f, err := load(path)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// parse reads the text of a fault: see the package comment for the format.
func parse(text string) (fault, error) {
	f := fault{text: text}
	var comment []string
	var now edit
	flush := func() error {
		if len(now.old) == 0 && len(now.new) > 0 {
			return errors.New("new lines without old ones before them")
		}
		if len(now.old) > 0 {
			f.edits = append(f.edits, now)
		}
		now.old, now.new = nil, nil
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		var err error
		switch word, rest, _ := strings.Cut(line, " "); {
		case strings.TrimSpace(line) == "":
			err = flush()
		case line[0] == '#':
			comment = append(comment, strings.TrimSpace(line[1:]))
		case line[0] == '-':
			if len(now.new) > 0 {
				err = flush()
			}
			now.old = append(now.old, strings.TrimSpace(line[1:]))
		case line[0] == '+':
			now.new = append(now.new, strings.TrimRight(strings.TrimPrefix(line[1:], " "), " \t"))
		case word == "file":
			err = flush()
			now.file, now.function = strings.TrimSpace(rest), ""
		case word == "func":
			err = flush()
			now.function = strings.TrimSpace(rest)
		default:
			err = errors.New("a line is a comment (#), file PATH, func NAME, or begins with - or +")
		}
		if err == nil && len(now.old)+len(now.new) > 0 && (now.file == "" || now.function == "") {
			err = errors.New("lines to change without file and func before them")
		}
		if err != nil {
			return f, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := flush(); err != nil {
		return f, err
	}
	f.breaks = strings.Join(comment, " ")
	switch {
	case f.breaks == "":
		return f, errors.New("no comment says what the fault breaks")
	case len(f.edits) == 0:
		return f, errors.New("no lines to change")
	}
	return f, nil
}

// apply returns the changed files of the tree at root: their text by relative path. It fails if the lines to change do not
// occur exactly once.
func (f fault) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range f.edits {
		text, seen := changed[e.file]
		if !seen {
			bytes, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, fmt.Errorf("%s: does not apply: %w", f.name, err)
			}
			text = string(bytes)
		}
		text, err := e.apply(text)
		if err != nil {
			return nil, fmt.Errorf("%s: does not apply: %s, func %s: %w", f.name, e.file, e.function, err)
		}
		changed[e.file] = text
	}
	return changed, nil
}

// apply returns the text of a Go file with the edit applied.
func (e edit) apply(text string) (string, error) {
	first, last, err := find(text, e.function)
	if err != nil {
		return "", err
	}
	lines := strings.Split(text, "\n")
	at := -1
	for i := first; i+len(e.old) <= last+1; i++ {
		if !same(lines[i:i+len(e.old)], e.old) {
			continue
		}
		if at >= 0 {
			return "", fmt.Errorf("the lines from %q on are there more than once", e.old[0])
		}
		at = i
	}
	if at < 0 {
		return "", fmt.Errorf("the lines from %q on are not there", e.old[0])
	}
	indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " \t"))]
	changed := append([]string{}, lines[:at]...)
	for _, line := range e.new {
		changed = append(changed, indent+line)
	}
	return strings.Join(append(changed, lines[at+len(e.old):]...), "\n"), nil
}

func same(lines, wanted []string) bool {
	for i, line := range lines {
		if strings.TrimSpace(line) != wanted[i] {
			return false
		}
	}
	return true
}

// find returns the first and the last line of a function, counted from 0.
func find(text, function string) (first, last int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	found := 0
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && nameOf(d) == function {
			found++
			first, last = files.Position(d.Pos()).Line-1, files.Position(d.End()).Line-1
		}
	}
	if found != 1 {
		return 0, 0, fmt.Errorf("the file has %d functions of that name", found)
	}
	return first, last, nil
}

// nameOf returns the name of a function as in a fault: Name, T.Name or (*T).Name, without type parameters.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t, pointer := d.Recv.List[0].Type, false
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, pointer = x.X, true
			continue
		case *ast.ParenExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			t = x.X
			continue
		case *ast.IndexListExpr:
			t = x.X
			continue
		case *ast.Ident:
			if pointer {
				return "(*" + x.Name + ")." + d.Name.Name
			}
			return x.Name + "." + d.Name.Name
		}
		return d.Name.Name
	}
}
