package vet

import (
	"go/ast"

	"golang.org/x/tools/go/cfg"
)

// flow is the control flow of a function.
type flow struct {
	graph *cfg.CFG
}

// step tells how a walk continues after a node.
type step int

const (
	on    step = iota // to the next nodes
	stop              // leave this path
	found             // end the walk
)

// flow returns the control flow of a function. Only panic and functions that end the program count as not returning.
func (p *pass) flow(f function) flow {
	return flow{cfg.New(f.body, func(call *ast.CallExpr) bool {
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
			return false
		}
		return !p.calls(call, "os", "Exit") && !p.calls(call, "runtime", "Goexit") &&
			!p.calls(call, "log", "Fatal", "Fatalf", "Fatalln") && !p.calls(call, "testing", "Fatal", "Fatalf", "FailNow", "Skip")
	})}
}

// from walks once over each node that can follow the one that contains at, including that one if it can be reached again.
// It reports whether do returned found.
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
