package vet

import (
	"go/ast"

	"golang.org/x/tools/go/cfg"
)

// flow is the control flow of a function.
type flow struct {
	graph *cfg.CFG
}

// step says how a walk goes on after a node.
type step int

const (
	on    step = iota // to what comes next
	stop              // not on this path
	found             // the walk ends
)

// flow returns the control flow of a function. Only panic and what ends the program count as
// not returning.
func (p *pass) flow(f function) flow {
	return flow{cfg.New(f.body, func(call *ast.CallExpr) bool {
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
			return false
		}
		return !p.calls(call, "os", "Exit") && !p.calls(call, "runtime", "Goexit") &&
			!p.calls(call, "log", "Fatal", "Fatalf", "Fatalln") && !p.calls(call, "testing", "Fatal", "Fatalf", "FailNow", "Skip")
	})}
}

// from walks over the nodes that can come after the one that contains at, each once, that one
// included if it can come again. It reports whether do has returned found.
func (w flow) from(at ast.Node, do func(ast.Node) step) bool {
	seen := make(map[*cfg.Block]bool)
	var walk func(b *cfg.Block, i int) bool
	walk = func(b *cfg.Block, i int) bool {
		for ; i < len(b.Nodes); i++ {
			switch do(b.Nodes[i]) {
			case found:
				return true
			case stop:
				return false
			}
		}
		for _, next := range b.Succs {
			if !seen[next] {
				seen[next] = true
				if walk(next, 0) {
					return true
				}
			}
		}
		return false
	}
	for _, b := range w.graph.Blocks {
		for i, n := range b.Nodes {
			if n.Pos() <= at.Pos() && at.End() <= n.End() {
				return walk(b, i+1)
			}
		}
	}
	return false
}
