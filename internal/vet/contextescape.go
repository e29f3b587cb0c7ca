package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
)

// ContextEscape finds Contexts and Processes that escape to other goroutines.
var ContextEscape = analyzer("contextescape", `
find a node.Context or node.Process that escapes to another goroutine, or is kept

A Context belongs to the goroutine that runs the handler, and only until the handler returns: the
next handler on this goroutine, of any actor, gets the same Context. A goroutine that uses
it later sends as another process, and races with it. A Process belongs to the goroutine
of its function. The same holds for the Contexts of packages genserver, statem, event and active.

The analyzer reports Contexts and Processes in a go statement, in a function for errgroup.Group.Go,
sync.WaitGroup.Go, time.AfterFunc or context.AfterFunc, in a send on a channel, in a message, and
in an assignment to a package variable; Contexts also in an assignment to a field, or to
an element of a map or a slice, that outlives the handler. It does not report fields to which a
method Receive assigns its Context each time before it does anything else with the message; Self and
Node of a Process, which never change; and a handle (Node.Open) that its function no longer uses after
passing it to another goroutine.

Read what the goroutine needs before it starts, the *node.Node and the PID, and let it send to the
process:

	n, self := c.Node(), c.Self()
	go func() { n.Send(self, fetched{fetch()}) }()`, runContextEscape)

func runContextEscape(p *pass) {
	if p.Pkg.Path() == pathNode {
		return // the runtime itself
	}
	renewed := p.renewed()
	p.functions(func(f function) {
		inspectOwn(f.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				p.escapesBy(f, n.Call, "a go statement")
				for _, arg := range n.Call.Args {
					p.escapesAs(arg, "a go statement")
				}
			case *ast.CallExpr:
				if starts := p.startsGoroutine(n); starts != "" {
					for _, arg := range n.Args {
						if _, ok := p.TypesInfo.TypeOf(arg).Underlying().(*types.Signature); ok {
							p.escapesBy(f, arg, starts)
						}
					}
				} else if msg, to := p.message(n); msg != nil {
					p.escapesAs(msg, "a message ("+to+")")
				}
			case *ast.SendStmt:
				p.escapesAs(n.Value, "a channel")
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN {
						p.escapesInto(f, l, n.Rhs[i], renewed)
					}
				}
			}
			return true
		})
	})
}

// renewed returns the fields to which methods called Receive assign their Context for every message.
func (p *pass) renewed() map[types.Object]bool {
	all := make(map[types.Object]bool)
	p.functions(func(f function) {
		c := p.parameter(f, isContext)
		if f.name() != nameReceive || c == nil {
			return
		}
		for _, s := range f.body.List {
			if assign, ok := s.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && p.variable(assign.Rhs[0]) == c {
				if sel, ok := assign.Lhs[0].(*ast.SelectorExpr); ok {
					all[p.TypesInfo.Uses[sel.Sel]] = true
				}
			}
		}
	})
	return all
}

// startsGoroutine returns the name of a function that runs its argument on another goroutine.
func (p *pass) startsGoroutine(call *ast.CallExpr) string {
	switch {
	case p.calls(call, "golang.org/x/sync/errgroup", "Go", "TryGo"):
		return "errgroup.Group.Go"
	case p.calls(call, "sync", "Go"):
		return "sync.WaitGroup.Go"
	case p.calls(call, "time", "AfterFunc"):
		return "time.AfterFunc"
	case p.calls(call, "context", "AfterFunc"):
		return "context.AfterFunc"
	}
	return ""
}

// escapesBy reports a Context or Process that escapes to another goroutine in a function literal or go statement.
func (p *pass) escapesBy(f function, x ast.Node, way string) {
	if call, ok := x.(*ast.CallExpr); ok { // go c.Send(…), go func() { … }()
		x = call.Fun
	}
	reported := make(map[*types.Var]bool)
	for id, above := range identifiers(x) {
		v, ok := p.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.IsField() || declaredIn(v, x) || reported[v] || !isContext(v.Type()) && !isProcess(v.Type()) {
			continue
		}
		if isProcess(v.Type()) && (harmless(above) || p.handedOver(f, x, v)) {
			continue
		}
		reported[v] = true
		p.escape(id, v.Type(), way)
	}
}

// identifiers returns the identifiers in a node, each with its enclosing nodes, the innermost last.
func identifiers(n ast.Node) iter.Seq2[*ast.Ident, []ast.Node] {
	return func(yield func(*ast.Ident, []ast.Node) bool) {
		var above []ast.Node
		on := true
		ast.Inspect(n, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return on
			}
			if id, ok := n.(*ast.Ident); ok && on {
				on = yield(id, above)
			}
			above = append(above, n)
			return true
		})
	}
}

// harmless reports whether an identifier within the given nodes is a Process of which only constant properties are read.
func harmless(above []ast.Node) bool {
	if len(above) < 2 {
		return false
	}
	sel, ok := above[len(above)-1].(*ast.SelectorExpr)
	if !ok {
		return false
	}
	call, ok := above[len(above)-2].(*ast.CallExpr)
	return ok && call.Fun == sel && (sel.Sel.Name == "Self" || sel.Sel.Name == "Node")
}

// handedOver reports whether a Process is a handle that its function no longer uses after x.
func (p *pass) handedOver(f function, x ast.Node, v *types.Var) bool {
	if !declaredIn(v, f.body) {
		return false
	}
	for id, above := range identifiers(f.body) {
		if id.Pos() >= x.End() && p.TypesInfo.Uses[id] == v && !harmless(above) {
			return false
		}
	}
	return true
}

// escapesAs reports a Context or Process that is given away, by itself or inside of a value.
func (p *pass) escapesAs(x ast.Expr, way string) {
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			p.escapesAs(e, way)
		}
	case *ast.UnaryExpr:
		p.escapesAs(x.X, way)
	case *ast.Ident, *ast.SelectorExpr:
		t := p.TypesInfo.TypeOf(x)
		if v := p.variable(x); v != nil && isProcess(t) && way == "a go statement" {
			return // its function is on the new goroutine: see handedOver
		}
		if isContext(t) || isProcess(t) {
			p.escape(x, t, way)
		}
	}
}

// escapesInto reports an assignment of a Context or Process to a variable that outlives the function.
func (p *pass) escapesInto(f function, to, x ast.Expr, renewed map[types.Object]bool) {
	t := p.TypesInfo.TypeOf(x)
	if p.variable(x) == nil || !isContext(t) && !isProcess(t) {
		return
	}
	if sel, ok := to.(*ast.SelectorExpr); ok && renewed[p.TypesInfo.Uses[sel.Sel]] {
		return
	}
	root, field := to, false
	for {
		switch r := ast.Unparen(root).(type) {
		case *ast.SelectorExpr:
			if id, ok := r.X.(*ast.Ident); ok {
				if _, ok := p.TypesInfo.Uses[id].(*types.PkgName); ok {
					root = r.Sel
					continue
				}
			}
			root, field = r.X, true
			continue
		case *ast.IndexExpr:
			root, field = r.X, true
			continue
		case *ast.StarExpr:
			root, field = r.X, true
			continue
		}
		break
	}
	v := p.variable(root)
	switch {
	case v == nil:
	case isGlobal(v):
		p.escape(x, t, "a package variable")
	case field && isContext(t) && !declaredIn(v, f.body):
		p.escape(x, t, "a field that outlives the handler")
	}
}

// escape reports an escape.
func (p *pass) escape(at ast.Expr, t types.Type, way string) {
	what := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	if isProcess(t) {
		p.report(at, "a %s belongs to the goroutine of its process and must not get away by %s: "+
			"take p.Node() and p.Self(), and send to the process, or open a handle (Node.Open) there", what, way)
		return
	}
	p.report(at, "a %s is valid on the goroutine of the handler only and until it returns, and must not get away by %s: "+
		"take c.Node() and c.Self() before, and send to the process", what, way)
}
