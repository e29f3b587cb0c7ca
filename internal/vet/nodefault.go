package vet

import (
	"go/ast"
	"go/types"
)

// NoDefault finds type switches over messages that ignore unknown messages.
var NoDefault = analyzer("nodefault", `
find type switches over messages without default in an actor's Receive

A message that fits no case, such as one of a type that was changed only on the sender's side, or an
int where an int64 is expected, is dropped without a trace: it was delivered, so it is no dead letter.
A caller waits until its context ends.

The analyzer reports a type switch over the message in a method Receive, or in a function for node.ActorFunc,
if it has neither a default nor a case any, and no code after it uses the message or returns an error.
It skips tests.

Add a default that logs, fails, or leaves the message for another behaviour. Context.Unknown fails a request
for its caller, and logs any other message:

	default:
		c.Unknown(msg)

An empty default with a comment documents that all other messages are dropped on purpose.`, runNoDefault)

func runNoDefault(p *pass) {
	p.functions(func(f function) {
		msg := p.receives(f)
		if msg == nil || p.inTest(f.node) {
			return
		}
		for i, s := range f.body.List {
			sw, ok := s.(*ast.TypeSwitchStmt)
			if !ok || p.switched(sw) != msg || p.takesAll(sw) || p.goesOn(f.body.List[i+1:], msg) || p.kept(f.body.List[:i], msg) {
				continue
			}
			p.report(sw, "a message that fits no case is dropped without a trace: add a default that fails or logs it (c.Unknown(msg)), "+
				"returns an error, or returns node.ErrUnhandled for another behaviour")
		}
	})
}

// receives returns the message parameter of a method Receive, or of a function literal with its signature, or nil if f is
// neither.
func (p *pass) receives(f function) *types.Var {
	if f.decl != nil && (f.decl.Recv == nil || f.name() != nameReceive) {
		return nil
	}
	sig := p.signature(f)
	if sig.Params().Len() != 2 || sig.Results().Len() != 1 {
		return nil
	}
	path, name := named(pointee(sig.Params().At(0).Type()))
	if name != nameContext || path != pathNode && path != pathActive {
		return nil
	}
	msg := sig.Params().At(1)
	if i, ok := msg.Type().Underlying().(*types.Interface); !ok || !i.Empty() {
		return nil
	}
	return msg
}

// switched returns the variable on which a type switch switches.
func (p *pass) switched(sw *ast.TypeSwitchStmt) *types.Var {
	var x ast.Expr
	switch a := sw.Assign.(type) {
	case *ast.AssignStmt:
		x = a.Rhs[0]
	case *ast.ExprStmt:
		x = a.X
	}
	return p.variable(ast.Unparen(x).(*ast.TypeAssertExpr).X)
}

// takesAll reports whether a type switch has a default or a case any.
func (p *pass) takesAll(sw *ast.TypeSwitchStmt) bool {
	for _, s := range sw.Body.List {
		clause := s.(*ast.CaseClause)
		if clause.List == nil {
			return true
		}
		for _, x := range clause.List {
			if i, ok := p.TypesInfo.TypeOf(x).Underlying().(*types.Interface); ok && i.Empty() {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether statements use the message, or return something other than nil.
func (p *pass) goesOn(rest []ast.Stmt, msg *types.Var) bool {
	for _, s := range rest {
		if p.uses(s, msg) || p.fails(s) {
			return true
		}
	}
	return false
}

// kept reports whether nodes use the message for more than its type.
func (p *pass) kept(nodes []ast.Stmt, msg *types.Var) bool {
	for _, s := range nodes {
		for id, above := range identifiers(s) {
			if _, ok := last(above).(*ast.TypeAssertExpr); !ok && p.TypesInfo.Uses[id] == msg {
				return true
			}
		}
	}
	return false
}

// fails reports whether a statement returns something other than nil, or panics.
func (p *pass) fails(s ast.Node) bool {
	yes := false
	inspectOwn(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if id, ok := r.(*ast.Ident); !ok || id.Name != "nil" {
					yes = true
				}
			}
			yes = yes || len(n.Results) == 0 // a named result
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
				yes = true
			}
		}
		return !yes
	})
	return yes
}
