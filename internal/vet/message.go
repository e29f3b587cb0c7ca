package vet

import (
	"go/ast"
	"slices"
)

// giver is a function or method that passes an argument to another process.
type giver struct {
	path  string
	recv  string // "" for a function, "*" for any type
	names []string
	arg   int // index of the argument
}

// givers lists the known givers. SendBytes is not one: it copies.
var givers = []giver{
	{pathNode, "*", []string{"Send"}, 1},
	{pathNode, "*", []string{"SendAfter", "SendInterval", "SendOpt"}, 2},
	{pathNode, "From", []string{"Reply"}, 0},
	{pathNode, "*", []string{"Reply"}, 1},
	{pathNode, "*", []string{"Spawn"}, 0},
	{pathNode, "*", []string{nameSpawnOpt}, 1},
	{pathNode, "", []string{"Send"}, 2},
	{pathNode, "", []string{"Deliver", "Call", "SendRequest", "SpawnWait"}, 3},
	{pathNode, "", []string{"Async"}, 2},
	{pathServer, "", []string{"Call", "CallTo"}, 3},
	{pathServer, "", []string{"Cast", "CastTo", "Async", "AsyncTo"}, 2},
	{pathServer, "Kind", []string{"Start", "StartAddr"}, 2},
	{pathMachine, "Kind", []string{"Start"}, 2},
	{pathMachine, "Context", []string{"Reply"}, 1},
	{pathMachine, "", []string{"Reply"}, 2},
	{pathEvent, "", []string{"Notify"}, 2},
	{pathEvent, "", []string{"SyncNotify"}, 3},
	{pathEvent, "", []string{"Call", "Add"}, 4},
	{pathActive, "", []string{"Go", "Call"}, 3},
	{pathActive, "", []string{"Start"}, 1},
	{pathActive, "", []string{"In"}, 2},
	{pathLifetime, "", []string{"Own", "Start"}, 1},
	{pathLifetime, "Owner", []string{"Send"}, 1},
	{pathLifetime, "", []string{"Call", "Go"}, 3},
}

// message returns the argument that a call passes to another process, and the name of the giver. arg is nil if the call is
// not to a giver.
func (p *pass) message(call *ast.CallExpr) (arg ast.Expr, name string) {
	f := p.callee(call)
	if f == nil || f.Pkg() == nil {
		return nil, ""
	}
	recv := ""
	if r := f.Signature().Recv(); r != nil {
		t := r.Type()
		if to := pointee(t); to != nil {
			t = to
		}
		_, recv = named(t)
	}
	for _, g := range givers {
		of := g.recv == recv || g.recv == "*" && recv != "" && recv != "From"
		if of && g.path == f.Pkg().Path() && slices.Contains(g.names, f.Name()) && g.arg < len(call.Args) {
			return call.Args[g.arg], f.Name()
		}
	}
	return nil, ""
}
