package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// The packages known to the analyzers.
const (
	module       = "github.com/actornode/actornode/"
	pathNode     = module + "node"
	pathServer   = module + "node/genserver"
	pathMachine  = module + "node/statem"
	pathEvent    = module + "node/event"
	pathActive   = module + "node/active"
	pathLifetime = module + "node/lifetime"
	pathFutures  = module + "node/futures"
	pathSuper    = module + "supervisor"
	nameContext  = "Context"
	nameProcess  = "Process"
	nameRequest  = "Request"
	nameFuture   = "Future"
	nameReceive  = "Receive"
	nameSpawnOpt = "SpawnOpt"
)

// contexts lists the packages whose handlers take a Context of the package.
var contexts = []string{pathNode, pathServer, pathMachine, pathEvent, pathActive}

// usesNode reports whether a package is node, or imports node or a package built on it.
func usesNode(pkg *types.Package) bool {
	if strings.HasPrefix(pkg.Path(), pathNode) {
		return true
	}
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool {
		return slices.Contains(contexts, p.Path()) || strings.HasPrefix(p.Path(), pathNode+"/") ||
			strings.HasPrefix(p.Path(), pathSuper)
	})
}

// named returns the package and the name of a named type.
func named(t types.Type) (path, name string) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", ""
	}
	return n.Obj().Pkg().Path(), n.Obj().Name()
}

// isNamed reports whether t is the type name of package path, or an instance of it.
func isNamed(t types.Type, path, name string) bool {
	p, n := named(t)
	return p == path && n == name
}

// pointee returns what t points to, or nil.
func pointee(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return nil
}

// isContext reports whether t is a Context of a handler.
func isContext(t types.Type) bool {
	path, name := named(pointee(t))
	return name == nameContext && slices.Contains(contexts, path)
}

// isProcess reports whether t is *node.Process.
func isProcess(t types.Type) bool { return isNamed(pointee(t), pathNode, nameProcess) }

// isFuture reports whether t is a *node.Future.
func isFuture(t types.Type) bool { return isNamed(pointee(t), pathNode, nameFuture) }

// callee returns the function or method called by a call, if it is known statically.
func (p *pass) callee(call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(p.TypesInfo, call).(*types.Func)
	if f == nil {
		return nil
	}
	return f.Origin()
}

// calls reports whether a call is to one of the named functions or methods of package path.
func (p *pass) calls(call *ast.CallExpr, path string, names ...string) bool {
	f := p.callee(call)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == path && slices.Contains(names, f.Name())
}

// variable returns the variable that an expression is, or nil.
func (p *pass) variable(x ast.Expr) *types.Var {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// declaredIn reports whether a variable is declared within a node.
func declaredIn(v *types.Var, n ast.Node) bool { return n.Pos() <= v.Pos() && v.Pos() < n.End() }

// isGlobal reports whether a variable is a package variable.
func isGlobal(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// function is a function with a body, declared or literal.
type function struct {
	node ast.Node // an *ast.FuncDecl or *ast.FuncLit
	decl *ast.FuncDecl
	typ  *ast.FuncType
	body *ast.BlockStmt
}

func (f function) name() string {
	if f.decl == nil {
		return ""
	}
	return f.decl.Name.Name
}

// functions calls do for each function of the package that has a body.
func (p *pass) functions(do func(f function)) {
	p.in.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				do(function{n, n, n.Type, n.Body})
			}
		case *ast.FuncLit:
			do(function{n, nil, n.Type, n.Body})
		}
	})
}

// parameter returns the first parameter whose type fits, or nil if there is none or it has no name.
func (p *pass) parameter(f function, fits func(types.Type) bool) *types.Var {
	for _, field := range f.typ.Params.List {
		for _, name := range field.Names {
			if v, ok := p.TypesInfo.Defs[name].(*types.Var); ok && fits(v.Type()) {
				return v
			}
		}
	}
	return nil
}

// isHandler reports whether a function runs while an actor handles a message.
func (p *pass) isHandler(f function) bool {
	if slices.Contains([]string{"Init", "Inherit", "Terminate"}, f.name()) {
		return false
	}
	return slices.ContainsFunc(f.typ.Params.List, func(field *ast.Field) bool {
		return isContext(p.TypesInfo.TypeOf(field.Type))
	})
}

// inspectOwn is ast.Inspect that skips nested function literals.
func inspectOwn(n ast.Node, visit func(ast.Node) bool) {
	ast.Inspect(n, func(m ast.Node) bool {
		if _, ok := m.(*ast.FuncLit); ok && m != n {
			return false
		}
		return visit(m)
	})
}

// uses reports whether a node refers to a variable.
func (p *pass) uses(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		found = found || ok && p.TypesInfo.Uses[id] == v
		return !found
	})
	return found
}

// signature returns the type of a function.
func (p *pass) signature(f function) *types.Signature {
	if f.decl != nil {
		return p.TypesInfo.Defs[f.decl.Name].(*types.Func).Signature()
	}
	return p.TypesInfo.TypeOf(f.node.(*ast.FuncLit)).(*types.Signature)
}

// within reports whether n is inside outer.
func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

// last returns the innermost of the enclosing nodes, or nil.
func last(above []ast.Node) ast.Node {
	if len(above) == 0 {
		return nil
	}
	return above[len(above)-1]
}
