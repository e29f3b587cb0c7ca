package vet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// LostFuture finds futures that can no longer be awaited.
var LostFuture = analyzer("lostfuture", `
find a node.Future whose result is lost

Only the future has the result of a call, or its failure: a caller that drops it does not learn that
the process was gone, or what it answered. The analyzer reports a future that is dropped where it is made,
assigned to _, or to a variable that is not used before it is assigned again or the function ends.
It does not report a future that is returned, kept, passed on or cancelled.

If you need no answer, use Send or genserver.Cast. Otherwise await the future (node.Await), have its result sent
(Future.SendTo), or use node.SendRequest, whose result is a message.

The analyzer skips the futures of active.Go, since there is no other way to call a method without waiting, and
those of futures.Within and Ask(…).Then: the first is its argument, the second has a reader.`, runLostFuture)

func runLostFuture(p *pass) {
	p.functions(func(f function) {
		inspectOwn(f.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt:
				p.lost(n.X)
			case *ast.GoStmt:
				p.lost(n.Call)
			case *ast.DeferStmt:
				p.lost(n.Call)
			case *ast.AssignStmt:
				p.lostVariables(f, n)
			}
			return true
		})
	})
}

// makesFuture reports whether x is a call that returns a future to which there is no other reference.
func (p *pass) makesFuture(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && isFuture(p.TypesInfo.TypeOf(call)) && !p.calls(call, pathActive, "Go") &&
		!p.calls(call, pathFutures, "Within", "Then")
}

func (p *pass) lost(x ast.Expr) {
	if p.makesFuture(x) {
		p.report(x, "the future is dropped, and with it the answer and every failure: "+
			"await it, use SendTo, or send what needs no answer with Send or Cast")
	}
}

// lostVariables reports futures assigned to variables that are not read.
func (p *pass) lostVariables(f function, n *ast.AssignStmt) {
	for i, l := range n.Lhs {
		if len(n.Lhs) != len(n.Rhs) || !p.makesFuture(n.Rhs[i]) {
			continue
		}
		if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
			p.lost(n.Rhs[i])
			continue
		}
		v := p.variable(l)
		if v == nil || isGlobal(v) || !declaredIn(v, f.body) || p.captured(f, v) {
			continue
		}
		used := p.flow(f).from(n, func(m ast.Node) step {
			switch {
			case p.reads(m, v):
				return found
			case p.assigns(m, v):
				return stop
			}
			return on
		})
		if !used {
			p.report(n.Rhs[i], "nobody awaits the future %s: await it, use SendTo, "+
				"or send what needs no answer with Send or Cast", v.Name())
		}
	}
}

// captured reports whether a function literal within f uses v.
func (p *pass) captured(f function, v *types.Var) bool {
	in := false
	ast.Inspect(f.body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			in = in || p.uses(lit, v)
			return false
		}
		return !in
	})
	return in
}

// reads reports whether a node uses the value of v. An assignment to _ does not count.
func (p *pass) reads(n ast.Node, v *types.Var) bool {
	assign, ok := n.(*ast.AssignStmt)
	if !ok {
		return p.uses(n, v)
	}
	for i, r := range assign.Rhs {
		blank := false
		if len(assign.Lhs) == len(assign.Rhs) {
			id, ok := assign.Lhs[i].(*ast.Ident)
			blank = ok && id.Name == "_" && p.variable(r) == v
		}
		if !blank && p.uses(r, v) {
			return true
		}
	}
	for _, l := range assign.Lhs {
		if p.variable(l) != v && p.uses(l, v) {
			return true
		}
	}
	return false
}

// assigns reports whether a node assigns or redeclares v.
func (p *pass) assigns(n ast.Node, v *types.Var) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			if p.variable(l) == v && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) {
				return true
			}
		}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if p.TypesInfo.Defs[name] == v {
				return true
			}
		}
	case *ast.DeclStmt:
		for _, spec := range n.Decl.(*ast.GenDecl).Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok && p.assigns(spec, v) {
				return true
			}
		}
	case *ast.Ident: // the key or value of a range clause
		return p.TypesInfo.Defs[n] == v
	}
	return false
}
