package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// What runs under the race detector: every package of the module that has tests and whose own
// code, without its tests, is concurrent. A package is concurrent that starts goroutines or
// holds what several of them use at once; see concurrent. What such a package imports is compiled
// for the race detector as well, and watched while the tests of that package run. So a
// package that only computes is not on the list, and is watched where goroutines use it.

// notRaced are the packages that the rule finds and that are left out, and why.
var notRaced = map[string]string{
	ours: "its tests read the repository: layers, licences, the API",
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir           string
	GoFiles, CgoFiles         []string
	TestGoFiles, XTestGoFiles []string
	Module                    struct{ Path string }
}

// racePackages returns the import paths of the packages to be run under the race detector, sorted.
// It works in any folder of the module.
func racePackages() ([]string, error) {
	all, err := listPackages()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range all {
		if notRaced[p.ImportPath] != "" || len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		why, err := p.concurrent()
		if err != nil {
			return nil, err
		}
		if why != "" {
			paths = append(paths, p.ImportPath)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// listPackages asks the go command for the packages of the module, with the files that it
// compiles for the race detector. Of a workspace it leaves out the other modules.
func listPackages() ([]listed, error) {
	c := exec.Command("go", "list", "-tags=race",
		"-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Module", ours+"/...")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, said.Bytes())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module.Path == ours {
			all = append(all, p)
		}
	}
}

// concurrent returns why p is concurrent; "": it is not.
func (p *listed) concurrent() (why string, err error) {
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		if why := concurrent(file); why != "" {
			return name + ": " + why, nil
		}
	}
	return "", nil
}

// shared are packages that nobody imports but for what several goroutines use at once, or to have
// other goroutines call what they are given.
var shared = map[string]bool{
	"sync":                            true,
	"sync/atomic":                     true,
	"net/http":                        true,
	"golang.org/x/sync/errgroup":      true,
	"golang.org/x/sync/semaphore":     true,
	"golang.org/x/sync/singleflight":  true,
	ours + "/internal/sched/bias":     true,
	ours + "/internal/sched/executor": true,
	ours + "/internal/sched/fiber":    true,
	ours + "/internal/mailbox/inbox":  true,
	ours + "/node":                    true,
}

const ours = "github.com/actornode/actornode"

// starters are the functions of other packages that call what they are given in another goroutine.
var starters = map[string][]string{
	"time":    {"AfterFunc"},
	"context": {"AfterFunc"},
	"runtime": {"AddCleanup", "SetFinalizer"},
	"iter":    {"Pull", "Pull2"},
}

// concurrent returns why a file makes its package concurrent, or "". It does if it
//
//   - has a go statement;
//   - declares a channel, sends, receives or selects;
//   - imports a package of shared, such as sync, or node, which runs handlers in its goroutines;
//   - calls one of starters.
func concurrent(file *ast.File) (why string) {
	imported := map[string]string{} // path by name
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if shared[path] {
			return "imports " + path
		}
		name := filepath.Base(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			why = "starts a goroutine"
		case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			why = "uses a channel"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				why = "uses a channel"
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(starters[imported[x.Name]], n.Sel.Name) {
				why = "calls " + imported[x.Name] + "." + n.Sel.Name
			}
		}
		return why == ""
	})
	return why
}
