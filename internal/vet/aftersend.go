package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// AfterSend finds messages that are changed after being sent.
var AfterSend = analyzer("aftersend", `
find pointers, maps and slices that are changed after being passed to another process

A message is a Go value and is not copied: after the send both sides share the data that it points to, and
the receiver may read it at any time. If the sender changes it, the receiver may see half of the change, or
the program crashes (concurrent map read and map write). A message to another node may be encoded before or
after the change.

The analyzer reports changes of data held by a message, on a path after the message was passed to Send, Cast,
Call, Reply, Spawn or a similar function: of elements, of fields behind a pointer, by delete, clear, copy, append
to a part, sorting, a Read into it, Reset or Write of a bytes.Buffer whose Bytes it holds, and by a method of this
package that changes its receiver. An actor without Init owns the value that it is spawned with from the next
message on. For a function literal that a process is spawned with, the analyzer checks the captured variables: it
reports a change of one that the process uses, and a use of one that the process changes.
It also reports an Actor that two processes are spawned with, or that the Start of a supervisor's child returns each
time, and a field of the state that a handler sends, or returns as the reply of a server, while another handler changes
the data in the field. It does not report a change after the sender has waited for something (a receive, a call, a
lock), since the receiver may be done by then, nor data with a lock or atomic fields.

Send a copy (maps.Clone, slices.Clone, a struct), make a new value after the send, or use SendBytes for a buffer.`, runAfterSend)

func runAfterSend(p *pass) {
	s := &sharing{
		pass: p, decls: make(map[types.Object]ast.Node), mutators: make(map[*types.Func]bool),
		fields: make(map[*types.Var]ast.Node), replies: make(map[ast.Node]bool),
	}
	p.functions(s.readMutator)
	p.functions(s.readFields)
	p.functions(s.readReplies)
	s.readGlobals()
	p.functions(func(f function) {
		inspectOwn(f.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.CallExpr:
				if msg, name := p.message(n); msg != nil {
					for _, h := range s.holds(msg) {
						s.given(f, n, msg, h, name)
					}
					s.captured(f, n, msg, name)
					s.twice(f, n, msg, name)
				}
			case *ast.ReturnStmt:
				s.restarted(f, n)
				if s.replies[f.node] && len(n.Results) == 2 {
					for _, h := range s.holds(n.Results[0]) {
						s.givenState(f, n.Results[0], h, "the caller")
					}
				}
			}
			return true
		})
	})
}

// sharing finds data shared by processes in one package.
type sharing struct {
	*pass
	decls    map[types.Object]ast.Node
	mutators map[*types.Func]bool    // methods that change what their receiver refers to
	fields   map[*types.Var]ast.Node // where a handler changes data that a field of its state refers to
	replies  map[ast.Node]bool       // functions whose first result is the reply to a call
}

// given reports a change of data that a message holds.
func (s *sharing) given(f function, call *ast.CallExpr, msg ast.Expr, h held, name string) {
	switch {
	case (h.how == address || h.how == variable) && s.inForInit(f, h.root): // each iteration has its own variable
	case s.toSelf(call): // it receives the message later
	case s.startsLater(msg, name):
		s.after(f, call, h, func(n ast.Node, effects []effect) step {
			if !s.sends(n) {
				return on
			}
			s.changedAfter(f, call, n, h, name)
			return stop
		})
	case !s.changedAfter(f, call, call, h, name):
		s.givenState(f, msg, h, name)
	}
}

// captured reports a variable captured by a function literal that a process is spawned with, if the process or the spawning
// function changes it while the other uses it.
func (s *sharing) captured(f function, call *ast.CallExpr, msg ast.Expr, name string) {
	lit := literal(msg)
	if lit == nil || s.stepped(call) {
		return
	}
	written := make(map[*types.Var]bool)
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok {
			for _, e := range s.ownEffects(stmt) {
				written[e.root] = written[e.root] || pointee(e.root.Type()) == nil || e.kind == whole && e.fields == ""
			}
		}
		return true
	})
	seen := make(map[*types.Var]bool)
	for id := range identifiers(lit.Body) {
		v, ok := s.TypesInfo.Uses[id].(*types.Var)
		if !ok || seen[v] || v.IsField() || isGlobal(v) || declaredIn(v, lit) || !declaredIn(v, f.node) || guarded(v.Type()) {
			continue
		}
		seen[v] = true
		h := held{place{root: v}, address}
		if pointee(v.Type()) != nil {
			h.how = variable
		}
		s.given(f, call, msg, h, name)
		if written[v] && !s.inForInit(f, v) {
			s.usedAfter(f, call, msg, h, name)
		}
	}
}

// twice reports that two processes are spawned with one Actor.
func (s *sharing) twice(f function, call *ast.CallExpr, msg ast.Expr, name string) {
	at, ok := s.placeOf(msg)
	if !ok || !s.isActor(msg) || s.inForInit(f, at.root) {
		return
	}
	line := s.Fset.Position(call.Pos()).Line
	s.flow(f).from(call, func(n ast.Node) step {
		next := on
		if s.declares(n, at.root) {
			return stop
		}
		inspectOwn(n, func(m ast.Node) bool {
			if again, ok := m.(*ast.CallExpr); ok {
				if msg, by := s.message(again); msg != nil && starts(by) && s.isActor(msg) {
					if p, ok := s.placeOf(msg); ok && p == at && !s.afterError(f, call, again) {
						s.report(msg, "%s was given to %s in line %d, and is the state of that process: make one for each", at, name, line)
						next = found
					}
				}
			}
			return next == on
		})
		for _, e := range s.effects(n) {
			if next == on && e.kind == whole && (e.place == at || at.in(e.place)) {
				next = stop
			}
		}
		return next
	})
}

// isActor reports whether an expression is a pointer to a struct with fields that implements an Actor.
func (s *sharing) isActor(x ast.Expr) bool {
	t := s.TypesInfo.TypeOf(x)
	of := pointee(t)
	if of == nil || guarded(of) {
		return false
	}
	if path, _ := named(of); strings.HasPrefix(path, module) && path != s.Pkg.Path() {
		return false // a Match, say, has no state
	}
	st, ok := of.Underlying().(*types.Struct)
	receive, _, _ := types.LookupFieldOrMethod(t, true, s.Pkg, nameReceive)
	return ok && st.NumFields() > 0 && receive != nil
}

// restarted reports that the Start of a supervisor's child returns an Actor that it did not create: that of the previous
// process.
func (s *sharing) restarted(f function, r *ast.ReturnStmt) {
	results := s.signature(f).Results()
	if _, literal := f.node.(*ast.FuncLit); !literal || results.Len() != 2 || len(r.Results) != 2 ||
		!isNamed(results.At(0).Type(), pathNode, "Actor") || !s.isActor(r.Results[0]) {
		return
	}
	if at, ok := s.placeOf(r.Results[0]); ok && !declaredIn(at.root, f.node) {
		s.report(r.Results[0], "%s is returned for each start, so a process that is restarted has the state of the one before: "+
			"make a new one", at)
	}
}

// stepped reports whether the process spawned by a call is run by the program's own Scheduler.
func (s *sharing) stepped(call *ast.CallExpr) bool {
	o, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	return ok && slices.ContainsFunc(o.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == "Scheduler"
	})
}

// literal returns the function literal that an expression is, or is converted from, or nil.
func literal(x ast.Expr) *ast.FuncLit {
	switch x := ast.Unparen(x).(type) {
	case *ast.FuncLit:
		return x
	case *ast.CallExpr:
		if len(x.Args) == 1 {
			return literal(x.Args[0])
		}
	}
	return nil
}

// usedAfter reports a use of a variable that a process changes.
func (s *sharing) usedAfter(f function, call *ast.CallExpr, msg ast.Expr, h held, name string) {
	line, running := s.Fset.Position(call.Pos()).Line, !s.startsLater(msg, name)
	s.after(f, call, h, func(n ast.Node, _ []effect) step {
		if running {
			if at := s.use(n, h.root); at != nil && !s.afterError(f, call, at) {
				s.report(at, "%s is used while the process that was given to %s in line %d changes it: let it send what it has, "+
					"or wait for it", h, name, line)
				return found
			}
		}
		running = running || s.sends(n)
		return on
	})
}

// use returns where a node uses a variable outside of function literals, or nil.
func (s *sharing) use(n ast.Node, v *types.Var) (at ast.Node) {
	inspectOwn(n, func(m ast.Node) bool {
		if id, ok := m.(*ast.Ident); ok && s.TypesInfo.Uses[id] == v {
			at = id
		}
		return at == nil
	})
	return at
}

// changedAfter reports a change, after the node from, of data given away by call.
func (s *sharing) changedAfter(f function, call *ast.CallExpr, from ast.Node, h held, name string) bool {
	line := s.Fset.Position(call.Pos()).Line
	return s.after(f, from, h, func(n ast.Node, effects []effect) step {
		for _, e := range effects {
			if h.effect(e) == found && !s.afterError(f, call, e.at) {
				s.report(e.at, "%s is changed after it was given to %s in line %d, and the receiver has the same one: "+
					"send a copy, or make a new one afterwards", h, name, line)
				return found
			}
		}
		return on
	})
}

// after walks over the nodes that can follow from, as long as the place still holds the same value and the receiver cannot
// be done with it.
func (s *sharing) after(f function, from ast.Node, h held, do func(n ast.Node, effects []effect) step) bool {
	return s.flow(f).from(from, func(n ast.Node) step {
		if s.declares(n, h.root) {
			return stop
		}
		effects := s.effects(n)
		if next := do(n, effects); next != on {
			return next
		}
		for _, e := range effects {
			if h.effect(e) == stop {
				return stop
			}
		}
		if s.waits(n) {
			return stop
		}
		return on
	})
}

// declares reports whether a node declares a variable.
func (s *sharing) declares(n ast.Node, v *types.Var) bool {
	yes := false
	inspectOwn(n, func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		yes = yes || ok && s.TypesInfo.Defs[id] == v
		return !yes
	})
	return yes
}

// toSelf reports whether a process sends to itself.
func (s *sharing) toSelf(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		c, ok := ast.Unparen(arg).(*ast.CallExpr)
		return ok && s.calls(c, pathNode, "Self")
	})
}

// startsLater reports whether msg becomes a process, or part of one, that does nothing before its first message.
func (s *sharing) startsLater(msg ast.Expr, name string) bool {
	if !starts(name) {
		return false
	}
	if isNamed(s.TypesInfo.TypeOf(msg), pathNode, "ProcessFunc") {
		return false
	}
	init, _, _ := types.LookupFieldOrMethod(s.TypesInfo.TypeOf(msg), true, s.Pkg, "Init")
	return init == nil
}

// starts reports whether a function of that name makes its argument a process or a part of one.
func starts(name string) bool {
	return strings.HasPrefix(name, "Spawn") || strings.HasPrefix(name, "Start") || name == "Add" || name == "In"
}

// sends reports whether a node gives a message to another process.
func (s *sharing) sends(n ast.Node) bool {
	yes := false
	inspectOwn(n, func(m ast.Node) bool {
		if call, ok := m.(*ast.CallExpr); ok {
			msg, name := s.message(call)
			yes = yes || msg != nil && !s.startsLater(msg, name)
		}
		return !yes
	})
	return yes
}

// givenState reports a handler that gives away a field of its state whose content handlers change.
func (s *sharing) givenState(f function, msg ast.Expr, h held, name string) {
	if h.how != shared || !s.isHandler(f) || !s.ofState(f, h.place) || s.replaced(f, h.place) {
		return
	}
	if at := s.fields[h.field]; at != nil {
		where := s.Fset.Position(at.Pos())
		s.report(msg, "%s is given to %s, and a handler changes what it holds (%s:%d) while the receiver has the same one: "+
			"give a copy", h, name, filepath.Base(where.Filename), where.Line)
	}
}

// ofState reports whether a place is a field of the struct that a parameter or the receiver points to.
func (s *sharing) ofState(f function, at place) bool {
	if at.field == nil || at.fields != "."+at.field.Name() || pointee(at.root.Type()) == nil {
		return false
	}
	return declaredIn(at.root, f.node) && !declaredIn(at.root, f.body)
}

// replaced reports whether a function assigns another value to a place, except where the place is nil.
func (s *sharing) replaced(f function, at place) bool {
	yes := false
	inspectOwn(f.body, func(n ast.Node) bool {
		if ifs, ok := n.(*ast.IfStmt); ok {
			if c, ok := ifs.Cond.(*ast.BinaryExpr); ok && c.Op == token.EQL {
				if x, ok := s.placeOf(c.X); ok && x == at {
					return false
				}
			}
		}
		if _, ok := n.(*ast.AssignStmt); ok {
			for _, e := range s.effects(n) {
				yes = yes || e.kind == whole && e.place == at
			}
		}
		return !yes
	})
	return yes
}

// readFields records which fields of their state handlers change.
func (s *sharing) readFields(f function) {
	if !s.isHandler(f) {
		return
	}
	inspectOwn(f.body, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok {
			for _, e := range s.ownEffects(stmt) {
				if e.kind == content && s.ofState(f, e.place) && s.fields[e.field] == nil && !s.replaced(f, e.place) {
					s.fields[e.field] = e.at
				}
			}
		}
		return true
	})
}

// readReplies records which functions of servers and active objects return replies.
func (s *sharing) readReplies(f function) {
	sig := s.signature(f)
	if f.name() == "HandleCall" && sig.Params().Len() == 2 && isNamed(pointee(sig.Params().At(0).Type()), pathEvent, nameContext) {
		s.replies[f.node] = true
	}
	inspectOwn(f.body, s.readReply)
}

// readGlobals is readReplies for package-level code: most kinds of servers are package variables.
func (s *sharing) readGlobals() {
	for _, file := range s.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.GenDecl); ok {
				inspectOwn(decl, s.readReply)
			}
		}
	}
}

// readReply records a function that a call makes a handler of calls.
func (s *sharing) readReply(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	handler := -1
	switch {
	case s.calls(call, pathServer, "OnCall", "OnAnyCall"):
		handler = 0
	case s.calls(call, pathActive, "Go", "Call"):
		handler = 2
	}
	if handler < 0 || handler >= len(call.Args) {
		return true
	}
	switch x := ast.Unparen(call.Args[handler]).(type) {
	case *ast.FuncLit:
		s.replies[x] = true
	case *ast.Ident:
		s.replies[s.decls[s.TypesInfo.Uses[x]]] = true
	case *ast.SelectorExpr:
		s.replies[s.decls[s.TypesInfo.Uses[x.Sel]]] = true
	}
	return true
}

// readMutator records whether a method changes data that its receiver refers to.
func (s *sharing) readMutator(f function) {
	if f.decl == nil {
		return
	}
	s.decls[s.TypesInfo.Defs[f.decl.Name]] = f.decl
	if f.decl.Recv == nil {
		return
	}
	recv := s.signature(f).Recv()
	if t := pointee(recv.Type()); t != nil && guarded(t) {
		return
	}
	inspectOwn(f.body, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok {
			for _, e := range s.ownEffects(stmt) {
				if e.kind == content && e.root == recv && e.fields == "" {
					s.mutators[s.TypesInfo.Defs[f.decl.Name].(*types.Func)] = true
				}
			}
		}
		return true
	})
}

// place is a variable, or a possibly nested field of one.
type place struct {
	root   *types.Var
	fields string     // ".a.b"
	field  *types.Var // the last of them
}

func (p place) String() string { return p.root.Name() + p.fields }

// in reports whether p is a field of q, at any depth.
func (p place) in(q place) bool { return p.root == q.root && strings.HasPrefix(p.fields, q.fields+".") }

// holding is how a message holds a place.
type holding int

const (
	shared   holding = iota // the data behind a pointer, map or slice
	address                 // the variable itself: &v
	byValue                 // a struct, whose fields may refer to data
	buffer                  // the bytes of a bytes.Buffer
	variable                // a pointer itself: its target may have a lock, or be handed over
)

// held is a place that a message holds.
type held struct {
	place
	how holding
}

// placeOf returns the place named by an expression.
func (s *sharing) placeOf(x ast.Expr) (place, bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v := s.variable(x)
		return place{root: v}, v != nil
	case *ast.SelectorExpr:
		f, ok := s.TypesInfo.Uses[x.Sel].(*types.Var)
		if !ok || !f.IsField() {
			return place{}, false
		}
		at, ok := s.placeOf(x.X)
		return place{at.root, at.fields + "." + f.Name(), f}, ok
	case *ast.StarExpr:
		return s.placeOf(x.X)
	}
	return place{}, false
}

// holds returns the places that a message holds.
func (s *sharing) holds(x ast.Expr) (all []held) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		at, ok := s.placeOf(x)
		if !ok {
			return nil
		}
		t := s.TypesInfo.TypeOf(x)
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			if !guarded(u.Elem()) {
				return []held{{at, shared}}
			}
		case *types.Map, *types.Slice:
			return []held{{at, shared}}
		case *types.Struct:
			if path, _ := named(t); !strings.HasPrefix(path, module) && !guarded(t) || path == s.Pkg.Path() && !guarded(t) {
				return []held{{at, byValue}}
			}
		}
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return nil
		}
		if lit, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok {
			return s.holds(lit)
		}
		if at, ok := s.placeOf(x.X); ok && !guarded(s.TypesInfo.TypeOf(x.X)) {
			return []held{{at, address}}
		}
	case *ast.SliceExpr:
		if _, ok := s.TypesInfo.TypeOf(x.X).Underlying().(*types.Slice); ok {
			return s.holds(x.X)
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			all = append(all, s.holds(e)...)
		}
	case *ast.CallExpr:
		if t, ok := s.TypesInfo.Types[x.Fun]; ok && t.IsType() && len(x.Args) == 1 { // a conversion
			from := s.TypesInfo.TypeOf(x.Args[0]).Underlying()
			if _, ok := t.Type.Underlying().(*types.Basic); !ok && types.Identical(from, t.Type.Underlying()) {
				return s.holds(x.Args[0])
			}
			return nil
		}
		if sel, ok := x.Fun.(*ast.SelectorExpr); ok && s.calls(x, "bytes", "Bytes") {
			if at, ok := s.placeOf(sel.X); ok {
				return []held{{at, buffer}}
			}
		}
	}
	return all
}

// guarded reports whether a type contains a lock, an atomic value or a channel: it is meant to be shared.
func guarded(t types.Type) bool { return guardedWithin(t, 3) }

func guardedWithin(t types.Type, depth int) bool {
	if path, _ := named(t); path == "sync" || path == "sync/atomic" {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return false
	}
	for f := range st.Fields() {
		if guardedWithin(f.Type(), depth-1) {
			return true
		}
	}
	return false
}

// kind is the part of a place that an effect changes.
type kind int

const (
	whole   kind = iota // the variable or field itself: it is assigned
	part                // a field of it, or an element of an array, in place
	content             // the data it refers to
	bytesOf             // the content of a bytes.Buffer
)

// effect is one change of a place.
type effect struct {
	place
	kind   kind
	at     ast.Node
	itself bool // the new value derives from the old one: append(v, x), v[:0]
}

// effect returns found if e changes the data that the message holds, and stop if the place holds other data afterwards.
func (h held) effect(e effect) step {
	same := h.place == e.place
	switch {
	case e.kind == whole && !e.itself && h.how != address && h.how != variable && (same || h.place.in(e.place)):
		return stop
	case h.how == variable:
		if same && e.kind == whole {
			return found
		}
	case h.how == shared && same && e.kind == content,
		h.how == address && (same && e.kind != bytesOf || e.kind == content && e.place.in(h.place)),
		h.how == byValue && e.kind == content && e.place.in(h.place),
		h.how == buffer && same && e.kind == bytesOf:
		return found
	case h.how == byValue && e.kind == whole && e.place.in(h.place):
		return stop
	}
	return on
}

// effects returns the changes made by a node of the control flow.
func (s *sharing) effects(n ast.Node) (all []effect) {
	inspectOwn(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.AssignStmt:
			for i, l := range m.Lhs {
				itself := false
				if at, ok := s.placeOf(l); ok && len(m.Lhs) == len(m.Rhs) {
					itself = s.madeOf(m.Rhs[i], at)
				}
				all = append(all, s.writes(l, m, itself)...)
			}
		case *ast.IncDecStmt:
			all = append(all, s.writes(m.X, m, false)...)
		case *ast.CallExpr:
			all = append(all, s.callEffects(m)...)
		}
		return true
	})
	return all
}

// ownEffects returns the effects of a simple statement, and none for others.
func (s *sharing) ownEffects(n ast.Stmt) []effect {
	switch n := n.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt:
		return s.effects(n)
	}
	return nil
}

// madeOf reports whether x is a slice that may share the array of the slice at a place.
func (s *sharing) madeOf(x ast.Expr, at place) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.SliceExpr:
		return s.madeOf(x.X, at)
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && id.Name == "append" && len(x.Args) > 0 && s.madeOf(x.Args[0], at)
	default:
		of, ok := s.placeOf(x)
		return ok && of == at
	}
}

// writes returns the effects of an assignment to x.
func (s *sharing) writes(x ast.Expr, at ast.Node, itself bool) (all []effect) {
	kind := whole
	for {
		x = ast.Unparen(x)
		if p, ok := s.placeOf(x); ok {
			if _, star := x.(*ast.StarExpr); !star {
				all = append(all, effect{p, kind, at, itself})
			}
		}
		var of ast.Expr
		switch x := x.(type) {
		case *ast.SelectorExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.StarExpr:
			return append(all, s.derefs(x, at)...)
		default:
			return all
		}
		if t := s.TypesInfo.TypeOf(of); t == nil || refers(t) {
			return append(all, s.derefs(x, at)...)
		}
		x, kind = of, part
	}
}

// derefs returns a change of content for each reference followed on the way to x.
func (s *sharing) derefs(x ast.Expr, at ast.Node) (all []effect) {
	for {
		var of ast.Expr
		switch x := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.SliceExpr:
			of = x.X
		case *ast.StarExpr:
			of = x.X
		default:
			return all
		}
		if p, ok := s.placeOf(of); ok && refers(s.TypesInfo.TypeOf(of)) {
			all = append(all, effect{p, content, at, false})
		}
		x = of
	}
}

// refers reports whether values of a type refer to other data.
func refers(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	}
	return false
}

// changers lists the functions that change the data an argument refers to, by their package.
var changers = map[string][]string{
	"slices": {"Sort", "SortFunc", "SortStableFunc", "Reverse", "Delete", "DeleteFunc", "Compact", "CompactFunc", "Replace"},
	"sort":   {"Sort", "Stable", "Slice", "SliceStable", "Ints", "Strings", "Float64s"},
	"maps":   {"Copy", "DeleteFunc", "Insert"},
	"rand":   {"Read", "Shuffle"},
}

// callEffects returns the changes made by a call.
func (s *sharing) callEffects(call *ast.CallExpr) []effect {
	if id, ok := call.Fun.(*ast.Ident); ok && len(call.Args) > 0 {
		if _, ok := s.TypesInfo.Uses[id].(*types.Builtin); ok {
			_, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
			if id.Name == "delete" || id.Name == "clear" || id.Name == "copy" || id.Name == "append" && part {
				return s.changed(call.Args[0], call)
			}
			return nil
		}
	}
	f := s.callee(call)
	if f == nil || f.Pkg() == nil {
		return nil
	}
	path, name := f.Pkg().Path(), f.Name()
	sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	switch {
	case slices.Contains(changers[f.Pkg().Name()], name) && f.Signature().Recv() == nil && len(call.Args) > 0,
		name == "Read" && f.Signature().Recv() != nil && len(call.Args) == 1 && f.Signature().Results().Len() == 2:
		return s.changed(call.Args[0], call)
	case path == "io" && (name == "ReadFull" || name == "ReadAtLeast"):
		return s.changed(call.Args[1], call)
	case path == "bytes" && sel != nil && strings.HasPrefix(recvName(f), "Buffer") && changesBuffer(name):
		if p, ok := s.placeOf(sel.X); ok {
			return []effect{{p, bytesOf, call, false}}
		}
	case sel != nil && s.mutators[f]:
		if !refers(s.TypesInfo.TypeOf(sel.X)) {
			if p, ok := s.placeOf(sel.X); ok {
				return append(s.derefs(sel.X, call), effect{p, part, call, false})
			}
		}
		return s.changed(sel.X, call)
	}
	return nil
}

// changesBuffer reports whether a method of bytes.Buffer changes the bytes returned before.
func changesBuffer(name string) bool {
	return name == "Reset" || name == "Truncate" || name == "ReadFrom" || strings.HasPrefix(name, "Write")
}

// changed returns the effect of changing the data that x refers to, or the variable whose address it is.
func (s *sharing) changed(x ast.Expr, at ast.Node) []effect {
	x = ast.Unparen(x)
	if slice, ok := x.(*ast.SliceExpr); ok {
		return s.changed(slice.X, at)
	}
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return s.writes(u.X, at, false)
	}
	all := s.derefs(x, at)
	if p, ok := s.placeOf(x); ok && refers(s.TypesInfo.TypeOf(x)) {
		all = append(all, effect{p, content, at, false})
	}
	return all
}

// waiting lists the functions and methods after which the receiver may be done with a message.
var waiting = []string{
	"Receive", "ReceiveMatch", "ReceiveWithin", "ReceiveOf", "ReceiveOfWithin", "Await", "Wait", "Lock", "RLock", "Stop", "Get",
	"Idle", "Eventually", "EventuallyWithT",
}

// waits reports whether a node waits for an event that may imply that the receiver is done.
func (s *sharing) waits(n ast.Node) bool {
	yes := false
	if x, ok := n.(ast.Expr); ok { // of a range
		_, yes = s.TypesInfo.TypeOf(x).Underlying().(*types.Chan)
	}
	inspectOwn(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.UnaryExpr:
			yes = yes || m.Op == token.ARROW
		case *ast.CallExpr:
			f := s.callee(m)
			yes = yes || f != nil && (slices.Contains(waiting, f.Name()) || asks(f))
		}
		return !yes
	})
	return yes
}

// asks reports whether a function waits for the answer of a process, bounded by a context.
func asks(f *types.Func) bool {
	params := f.Signature().Params()
	return f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), module) && params.Len() > 1 &&
		isNamed(params.At(0).Type(), "context", nameContext) && isNamed(params.At(1).Type(), pathNode, "Caller")
}

// afterError reports whether a change is in the branch where the send has failed.
func (s *sharing) afterError(f function, call *ast.CallExpr, at ast.Node) bool {
	yes := false
	inspectOwn(f.body, func(n ast.Node) bool {
		ifs, ok := n.(*ast.IfStmt)
		if !ok || !within(at, ifs.Body) || within(call, ifs.Body) {
			return true
		}
		if c, ok := ifs.Cond.(*ast.BinaryExpr); ok && c.Op == token.NEQ {
			if v := s.variable(c.X); v != nil && types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
				yes = true
			}
		}
		return !yes
	})
	return yes
}

// inForInit reports whether a variable is declared by a for or range clause.
func (s *sharing) inForInit(f function, v *types.Var) bool {
	yes := false
	inspectOwn(f.body, func(n ast.Node) bool {
		switch loop := n.(type) {
		case *ast.ForStmt:
			yes = yes || loop.Init != nil && declaredIn(v, loop.Init)
		case *ast.RangeStmt:
			yes = yes || loop.Pos() <= v.Pos() && v.Pos() < loop.X.Pos()
		}
		return !yes
	})
	return yes
}
