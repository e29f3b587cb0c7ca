package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Blocking finds calls that block an actor's handler.
var Blocking = analyzer("blocking", `
find blocking calls in an actor's handler

A handler runs on a stage, which it shares with other actors. While it waits for the network, a file, a
program, a clock, a channel or another goroutine, the others have no worker until the runtime notices
and gives the stage to another one; the actor itself handles no message, not even a system message.

In functions with a Context, the analyzer reports: time.Sleep; dials, reads, writes, lookups and accepts of packages
net and net/http, and queries of database/sql; files of package os; the Run, Output and Wait of os/exec;
WaitGroup.Wait, Cond.Wait and errgroup's Wait; Lock and RLock of mutexes; sends on channels not known to have a buffer,
receives and ranges; a select without default; a call, or another wait, on behalf of the node
instead of the actor. A function of the same package that does so at its top level, other than
by a lock or a channel, is reported where it is called. The analyzer skips Init, Inherit and Terminate, which run once,
tests, and handlers whose state or literal is in a function that uses node.Detached().

Wait elsewhere, and receive the result as a message: from a goroutine that sends to Self, from a
separate process (node.ProcessFunc), by node.SendRequest or Future.SendTo. Pass the Context, not the node, to
node.Call, node.Await and similar functions: the actor then gives up its stage. A handler that has to block
does it in c.Blocking, which gives up the stage, too; the actor handles no other message meanwhile. Or it is
spawned with Options.Place = node.Detached(), and declares it:

	//actornode:blocks it is spawned with node.Detached()
	func (w *writer) Receive(c *node.Context, msg any) error {`, runBlocking)

const blocksPrefix = "//actornode:blocks"

func runBlocking(p *pass) {
	b := &blocker{pass: p, decls: make(map[*types.Func]*ast.FuncDecl), memo: make(map[*types.Func]string)}
	b.types = make(map[types.Object]bool)
	p.functions(func(f function) {
		if f.decl != nil {
			b.decls[p.TypesInfo.Defs[f.decl.Name].(*types.Func)] = f.decl
		}
	})
	b.readDetached()
	p.functions(func(f function) {
		if !p.isHandler(f) || p.inTest(f.node) || b.mayBlock(f) {
			return
		}
		b.walk(f.body, true, func(at ast.Node, what, instead string) {
			p.report(at, "%s keeps the stage waiting in a handler: %s, or do it in c.Blocking, "+
				"or spawn the actor with Options.Place = node.Detached() and say so with //actornode:blocks", what, instead)
		})
	})
}

// blocker finds blocking code in one package.
type blocker struct {
	*pass
	decls    map[*types.Func]*ast.FuncDecl
	memo     map[*types.Func]string // the blocking part of a function, or ""
	detached []ast.Node             // functions that use node.Detached()
	types    map[types.Object]bool  // types of the values made by these functions
	buffered map[types.Object]bool  // channels made with a buffer
}

// readDetached records what is made in functions with node.Detached().
func (b *blocker) readDetached() {
	b.buffered = make(map[types.Object]bool)
	for _, file := range b.Files {
		for _, decl := range file.Decls {
			has := false
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				has = has || ok && b.calls(call, pathNode, "Detached")
				return !has
			})
			ast.Inspect(decl, func(n ast.Node) bool { b.readChannel(n); return true })
			if !has {
				continue
			}
			b.detached = append(b.detached, decl)
			ast.Inspect(decl, func(n ast.Node) bool {
				if x, ok := n.(ast.Expr); ok {
					if t, ok := b.TypesInfo.Types[x]; ok && t.IsValue() {
						b.readType(t.Type)
					}
				}
				return true
			})
		}
	}
}

func (b *blocker) readType(t types.Type) {
	if to := pointee(t); to != nil {
		t = to
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		b.types[n.Obj()] = true
	}
}

// readChannel records whether a channel is made with a buffer.
func (b *blocker) readChannel(n ast.Node) {
	made := func(to ast.Expr, x ast.Expr) {
		call, ok := x.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return
		}
		if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "make" {
			return
		}
		if o := b.object(to); o != nil {
			b.buffered[o] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i := range n.Lhs {
			if len(n.Lhs) == len(n.Rhs) {
				made(n.Lhs[i], n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		for i := range n.Values {
			if len(n.Names) == len(n.Values) {
				made(n.Names[i], n.Values[i])
			}
		}
	case *ast.KeyValueExpr:
		made(n.Key, n.Value)
	}
}

// object returns the variable or field that an expression names.
func (b *blocker) object(x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return b.TypesInfo.ObjectOf(x)
	case *ast.SelectorExpr:
		return b.TypesInfo.ObjectOf(x.Sel)
	}
	return nil
}

// mayBlock reports whether a handler is declared to block, or is made in a function with node.Detached().
func (b *blocker) mayBlock(f function) bool {
	for _, in := range b.detached {
		if within(f.node, in) {
			return true
		}
	}
	if f.decl == nil {
		for _, decl := range b.decls {
			if within(f.node, decl) && saysItBlocks(decl.Doc) {
				return true
			}
		}
		return false
	}
	if saysItBlocks(f.decl.Doc) {
		return true
	}
	if recv := b.signature(f).Recv(); recv != nil {
		t := recv.Type()
		if to := pointee(t); to != nil {
			t = to
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			return b.types[n.Obj()] || saysItBlocks(b.typeDoc(n.Obj()))
		}
	}
	return false
}

// typeDoc returns the comment of a type.
func (b *blocker) typeDoc(of types.Object) *ast.CommentGroup {
	for _, file := range b.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || !declaredAt(of, decl) {
				continue
			}
			for _, s := range decl.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && declaredAt(of, spec) && spec.Doc != nil {
					return spec.Doc
				}
			}
			return decl.Doc
		}
	}
	return nil
}

func declaredAt(o types.Object, n ast.Node) bool { return n.Pos() <= o.Pos() && o.Pos() < n.End() }

// saysItBlocks reports whether a comment has the directive, with a reason.
func saysItBlocks(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		reason, ok := directive(c, blocksPrefix)
		return ok && reason != ""
	})
}

// walk calls found for each blocking part of a function. With deep set it also checks locks, channels and called functions.
func (b *blocker) walk(body ast.Node, deep bool, found func(at ast.Node, what, instead string)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it may run elsewhere
		case *ast.GoStmt:
			for _, arg := range n.Call.Args {
				b.walk(arg, deep, found)
			}
			return false
		case *ast.SelectStmt:
			b.walkSelect(n, deep, found)
			return false
		case *ast.SendStmt:
			if o := b.object(n.Chan); deep && (o == nil || !b.buffered[o]) {
				found(n, "a send on a channel", "use a select with default, or a message")
			}
		case *ast.UnaryExpr:
			if deep && n.Op == token.ARROW {
				found(n, "a receive from a channel", "have what is received come as a message")
			}
		case *ast.RangeStmt:
			if _, ok := b.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok && deep {
				found(n.X, "a range over a channel", "have what is received come as messages")
			}
		case *ast.CallExpr:
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok { // called at once, or deferred
				b.walk(lit.Body, deep, found)
			}
			b.walkCall(n, deep, found)
		}
		return true
	})
}

func (b *blocker) walkSelect(s *ast.SelectStmt, deep bool, found func(at ast.Node, what, instead string)) {
	waits := true
	for _, c := range s.Body.List {
		clause := c.(*ast.CommClause)
		waits = waits && clause.Comm != nil
		for _, s := range clause.Body {
			b.walk(s, deep, found)
		}
	}
	if waits && deep {
		found(s, "a select without default", "add a default, or have what is received come as a message")
	}
}

func (b *blocker) walkCall(call *ast.CallExpr, deep bool, found func(at ast.Node, what, instead string)) {
	f := b.callee(call)
	if f == nil || f.Pkg() == nil {
		return
	}
	what := qualified(f)
	if w, ok := waiters[f.Pkg().Path()]; ok && slices.Contains(w.names, recvName(f)+f.Name()) {
		if deep || !w.short {
			found(call, what, w.instead)
		}
		return
	}
	if deep && b.asNode(call, f) {
		found(call, what+" in the name of the node", "pass the handler's Context in place of the node")
		return
	}
	if decl := b.decls[f]; decl != nil && deep {
		if why := b.blocks(f, decl); why != "" {
			found(call, f.Name()+", which calls "+why+",", elsewhere)
		}
	}
}

// blocks returns the part of a function that blocks its caller, or "" if there is none or the function is a handler itself.
func (b *blocker) blocks(f *types.Func, decl *ast.FuncDecl) (why string) {
	if why, ok := b.memo[f]; ok {
		return why
	}
	b.memo[f] = ""
	if b.isHandler(function{decl, decl, decl.Type, decl.Body}) || saysItBlocks(decl.Doc) {
		return ""
	}
	for _, s := range decl.Body.List {
		switch s.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt, *ast.DeferStmt:
			b.walk(s, false, func(at ast.Node, what, _ string) { why = what })
		}
	}
	b.memo[f] = why
	return why
}

// waiter lists the functions of a package that wait. Methods include the name of their type.
type waiter struct {
	names   []string
	instead string
	short   bool // their waits are usually short: only direct calls count
}

const elsewhere = "do it in a goroutine or process of its own that sends the result"

// waiters holds the known waiters of other packages.
var waiters = map[string]waiter{
	"time": {names: []string{"Sleep"}, instead: "use c.SendAfter, which sends a message when the time is over"},
	"net": {names: []string{
		"Dial", "DialTimeout", "DialTCP", "DialUnix", "DialUDP", "Dialer.Dial", "Dialer.DialContext",
		"LookupHost", "LookupAddr", "LookupIP", "LookupCNAME", "LookupMX", "LookupNS", "LookupSRV", "LookupTXT", "ResolveTCPAddr",
		"Conn.Read", "Conn.Write", "TCPConn.Read", "TCPConn.Write", "conn.Read", "conn.Write", "UDPConn.ReadFrom",
		"Listener.Accept", "TCPListener.Accept", "TCPListener.AcceptTCP", "UnixListener.Accept",
	}, instead: elsewhere},
	"net/http": {names: []string{
		"Get", "Head", "Post", "PostForm", "Client.Do", "Client.Get", "Client.Head", "Client.Post", "Client.PostForm",
		"ListenAndServe", "ListenAndServeTLS", "Serve", "Server.ListenAndServe", "Server.Serve", "Server.Shutdown",
	}, instead: elsewhere},
	"database/sql": {names: []string{
		"DB.Query", "DB.QueryContext", "DB.QueryRow", "DB.QueryRowContext", "DB.Exec", "DB.ExecContext", "DB.Ping", "DB.PingContext",
		"DB.Begin", "DB.BeginTx", "Tx.Query", "Tx.QueryContext", "Tx.Exec", "Tx.ExecContext", "Tx.Commit", "Stmt.Query", "Stmt.Exec",
	}, instead: elsewhere},
	"os": {names: []string{
		"Open", "OpenFile", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "CopyFS", "RemoveAll",
		"File.Read", "File.ReadAt", "File.ReadFrom", "File.Write", "File.WriteAt", "File.WriteString", "File.WriteTo", "File.Sync",
		"Process.Wait",
	}, instead: elsewhere},
	"os/exec": {names: []string{
		"Cmd.Run", "Cmd.Output", "Cmd.CombinedOutput", "Cmd.Wait",
	}, instead: "use package node/port, or " + elsewhere},
	"golang.org/x/sync/errgroup": {names: []string{"Group.Wait"}, instead: "have the goroutines send their results as messages"},
	"sync": {names: []string{
		"Mutex.Lock", "RWMutex.Lock", "RWMutex.RLock", "WaitGroup.Wait", "Cond.Wait",
	}, instead: "keep what is shared in a process and ask that with messages", short: true},
}

// asNode reports whether a call waits on behalf of the node instead of the actor, so that the actor does not give up its
// stage.
func (b *blocker) asNode(call *ast.CallExpr, f *types.Func) bool {
	return asks(f) && len(call.Args) > 1 && isNamed(pointee(b.TypesInfo.TypeOf(call.Args[1])), pathNode, "Node")
}

// recvName returns the name of a method's receiver type with a dot, or "" for functions.
func recvName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if to := pointee(t); to != nil {
		t = to
	}
	_, name := named(t)
	return name + "."
}

// qualified returns the name of a function for messages.
func qualified(f *types.Func) string {
	return fmt.Sprintf("%s.%s%s", f.Pkg().Name(), recvName(f), f.Name())
}
