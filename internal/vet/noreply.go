package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// NoReply finds requests that are never answered.
var NoReply = analyzer("noreply", `
find a node.Request that is never answered

A caller waits for the reply until its context or the process ends. The analyzer reports a case
for a node.Request, or an assertion that a message is one, if the code uses the request, but
replies to it (Reply, Fail) on no path, and neither keeps nor passes on the request or its From. It also reports
a method of a server that returns genserver.ErrReplyLater without using From or Stop.
It reports nothing if a path returns an error, which ends the process and so the call, nor in
the functions of blocking processes.

Reply, or answer with an error (Fail); for a later reply keep the From:

	case node.Request[Get]:
		a.waiting = append(a.waiting, m.From)

If the sender needs no answer, it uses Send or genserver.Cast instead of a call.`, runNoReply)

func runNoReply(p *pass) {
	p.functions(func(f function) {
		if p.isHandler(f) {
			p.unanswered(f)
			p.neverLater(f)
		}
	})
}

// unanswered reports requests that a handler does not answer.
func (p *pass) unanswered(f function) {
	inspectOwn(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSwitchStmt:
			msg := p.switched(n)
			if msg == nil || p.usedBeside(f, n, msg) {
				return true
			}
			for _, s := range n.Body.List {
				clause := s.(*ast.CaseClause)
				i := slices.IndexFunc(clause.List, func(x ast.Expr) bool { return isRequest(p.TypesInfo.TypeOf(x)) })
				if m, _ := p.TypesInfo.Implicits[clause].(*types.Var); i >= 0 && !p.answers(clause.Body, m, msg) {
					p.noReply(clause.List[i])
				}
			}
		case *ast.BlockStmt:
			for i, stmt := range n.List {
				if s, ok := stmt.(*ast.AssignStmt); ok {
					m, msg, at := p.assertion(s)
					if m != nil && at != nil && !p.usedBeside(f, s, msg) && !p.answers(n.List[i+1:], m, msg) {
						p.noReply(at)
					}
				}
			}
		case *ast.IfStmt:
			m, msg, at := p.asserted(n)
			if at != nil && !p.usedBeside(f, n, msg) && !p.answers(n.Body.List, m, msg) {
				p.noReply(at)
			}
		}
		return true
	})
}

// usedBeside reports whether a function uses the message outside of the statement s.
func (p *pass) usedBeside(f function, s ast.Stmt, msg *types.Var) bool {
	for id, above := range identifiers(f.body) {
		if _, ok := last(above).(*ast.TypeAssertExpr); !ok && p.TypesInfo.Uses[id] == msg && !within(id, s) {
			return true
		}
	}
	return false
}

func (p *pass) noReply(at ast.Node) {
	p.report(at, "the request is never answered, and its caller waits until its context ends: "+
		"call Reply or Fail, or keep its From for a later reply")
}

// isRequest reports whether t is a node.Request.
func isRequest(t types.Type) bool { return t != nil && isNamed(t, pathNode, nameRequest) }

// asserted parses if m, ok := msg.(node.Request[T]); ok.
func (p *pass) asserted(s *ast.IfStmt) (m, msg *types.Var, at ast.Expr) {
	assign, ok := s.Init.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 {
		return nil, nil, nil
	}
	if holds := p.variable(assign.Lhs[1]); holds == nil || p.variable(s.Cond) != holds {
		return nil, nil, nil
	}
	return p.assertion(assign)
}

// assertion parses m := msg.(node.Request[T]), or with m, ok. m may be nil.
func (p *pass) assertion(s *ast.AssignStmt) (m, msg *types.Var, at ast.Expr) {
	if s.Tok != token.DEFINE || len(s.Rhs) != 1 {
		return nil, nil, nil
	}
	x, ok := s.Rhs[0].(*ast.TypeAssertExpr)
	if !ok || x.Type == nil || !isRequest(p.TypesInfo.TypeOf(x.Type)) {
		return nil, nil, nil
	}
	if msg = p.variable(x.X); msg == nil {
		return nil, nil, nil
	}
	return p.variable(s.Lhs[0]), msg, x
}

// answers reports whether nodes may cause the request m, received as the message msg, to be answered: by a reply, by
// keeping it, or by the end of the process. m may be nil.
func (p *pass) answers(nodes []ast.Stmt, m, msg *types.Var) bool {
	for _, n := range nodes {
		for id, above := range identifiers(n) {
			switch v := p.TypesInfo.Uses[id]; {
			case v == nil:
			case v == msg:
				return true
			case m != nil && v == m:
				sel, ok := last(above).(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Body", "Caller", "Peer", "Pending"}, sel.Sel.Name) {
					return true
				}
			}
		}
		if p.fails(n) {
			return true
		}
	}
	return false
}

// neverLater reports a genserver.ErrReplyLater for which no reply is possible.
func (p *pass) neverLater(f function) {
	sig := p.signature(f)
	if sig.Results().Len() != 2 {
		return
	}
	c := p.parameter(f, func(t types.Type) bool { return isNamed(pointee(t), pathServer, nameContext) })
	if c == nil && !p.unnamedServer(f) {
		return
	}
	if c != nil {
		for id, above := range identifiers(f.body) {
			if p.TypesInfo.Uses[id] != c {
				continue
			}
			if sel, ok := last(above).(*ast.SelectorExpr); !ok || sel.Sel.Name == "From" || sel.Sel.Name == "Stop" {
				return
			}
		}
	}
	inspectOwn(f.body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 2 {
			if sel, ok := r.Results[1].(*ast.SelectorExpr); ok {
				if v := p.TypesInfo.Uses[sel.Sel]; v != nil && v.Name() == "ErrReplyLater" && v.Pkg().Path() == pathServer {
					p.report(r, "the reply can never be given: nobody has asked for the From of this call; "+
						"keep c.From() before, or return the reply")
				}
			}
		}
		return true
	})
}

// unnamedServer reports whether a function has a *genserver.Context that it cannot use.
func (p *pass) unnamedServer(f function) bool {
	return slices.ContainsFunc(f.typ.Params.List, func(field *ast.Field) bool {
		return isNamed(pointee(p.TypesInfo.TypeOf(field.Type)), pathServer, nameContext)
	})
}
