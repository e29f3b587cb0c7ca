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

// The race detector runs on every package of the module that has tests and whose own code, without its tests, is
// concurrent: it starts goroutines or has data shared by several; see concurrent. The imports of such a package are also
// compiled for the race detector, and checked while its tests run. So a package that only computes is not on the list, but
// checked where goroutines use it.

// notRaced lists packages excluded from the rule, with the reasons.
var notRaced = map[string]string{
	ours: "its tests read the repository: layers, licences, the API",
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir           string
	GoFiles, CgoFiles         []string
	TestGoFiles, XTestGoFiles []string
	Module                    struct{ Path string }
}

// racePackages returns the sorted import paths of the packages to run under the race detector. It works in any directory of
// the module.
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

// listPackages lists the packages of the module with the files compiled for the race detector. It leaves out the other
// modules of a workspace.
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

// concurrent returns why p is concurrent, or "".
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

// shared lists packages that are imported only for data shared by goroutines, or to run callbacks on other goroutines.
var shared = map[string]bool{
	"sync":                            true,
	"sync/atomic":                     true,
	"net/http":                        true,
	"golang.org/x/sync/errgroup":      true,
	"golang.org/x/sync/semaphore":     true,
	"golang.org/x/sync/singleflight":  true,
	ours + "/internal/sched/executor": true,
	ours + "/internal/sched/fiber":    true,
	ours + "/internal/mailbox/inbox":  true,
	ours + "/node":                    true,
}

const ours = "github.com/actornode/actornode"

// starters lists the functions of other packages that call their argument in another goroutine.
var starters = map[string][]string{
	"time":    {"AfterFunc"},
	"context": {"AfterFunc"},
	"runtime": {"AddCleanup", "SetFinalizer"},
	"iter":    {"Pull", "Pull2"},
}

// concurrent returns why a file makes its package concurrent, or "". A file does if it
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
