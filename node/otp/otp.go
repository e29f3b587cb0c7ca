package otp

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Config says how a node answers OTP's tools. The zero value works.
type Config struct {
	// Output is where the process user writes what it receives: the output of processes that have no other group
	// leader. Default: os.Stdout. A Write that blocks holds up the process user, and processes that print through it.
	Output io.Writer
	// Messages is how many messages of a mailbox are shown. Default: 100.
	Messages int
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

const defaultMessages = 100

// Serve lets other nodes call the functions listed in doc.go, and starts the processes user and logger_proxy, which the
// node restarts when they exit: a new user has the same Output. A caller that waits for an answer of one that has
// exited learns of it by its monitor, as with io. Call Serve once per node: a second call returns [node.ErrNameTaken].
// Other errors are those of [node.SpawnWait], and of an invalid Config.
func Serve(n *node.Node, c Config) error {
	if c.Messages < 0 {
		return fmt.Errorf("otp: Config.Messages %d: want 0 for the default, or more", c.Messages)
	}
	if c.Messages == 0 {
		c.Messages = defaultMessages
	}
	if c.Output == nil {
		c.Output = os.Stdout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	t := &tools{n: n, cfg: c, born: c.Now(), seen: make(map[wire.Atom]wire.Atom)}
	for _, offer := range []func() []function{
		t.erlang, t.basics, t.clocks, t.backend, t.applications, t.processes, t.modules, t.behaviours, t.tables,
	} {
		for _, f := range offer() {
			if err := f.export(n); err != nil {
				return err
			}
		}
	}
	if err := t.exportSpawns(); err != nil {
		return err
	}
	_, err := n.Inside(process.Key{}).Keep(context.Background(), process.Kept[node.Actor]{
		Name: "user", ShowPeer: true, New: func() node.Actor { return node.ProcessFunc(t.user) },
	})
	if err != nil {
		return err
	}
	_, err = n.Inside(process.Key{}).Keep(context.Background(), process.Kept[node.Actor]{
		Name: "logger_proxy", New: func() node.Actor { return &logger{tools: t} },
	})
	return err
}

// tools is the state kept for one node.
type tools struct {
	n    *node.Node
	cfg  Config
	born time.Time

	unique unique

	mu        sync.Mutex
	seen      map[wire.Atom]wire.Atom // modules of processes that were shown, and their behaviour; "": none
	last      counts                  // as last returned
	traffic   counted                 // of all connections so far
	collected time.Time               // when the last requested garbage collection ran
}

// function is exported with one or more arities, and called with as many arguments as one of them.
type function struct {
	module, name wire.Atom
	arities      []int
	f            func(ctx context.Context, args []any) (any, error)
}

func (f function) export(n *node.Node) error {
	for _, arity := range f.arities {
		e := wire.Export{Module: f.module, Function: f.name, Arity: arity}
		if err := rpc.Export(n, e, rpc.Function(f.f)); err != nil {
			return fmt.Errorf("otp: %w", err)
		}
	}
	return nil
}

// constant returns a function that always returns v.
func constant(v any) func(context.Context, []any) (any, error) {
	return func(context.Context, []any) (any, error) { return v, nil }
}

// plain adapts a function that needs no context.
func plain(f func(args []any) (any, error)) func(context.Context, []any) (any, error) {
	return func(_ context.Context, args []any) (any, error) { return f(args) }
}

// errBadArg is what a BIF raises for an invalid argument.
var errBadArg = rpc.Raise(wire.Atom("badarg"))

// errSystemLimit is what a BIF raises when a peer already makes the node hold too much.
var errSystemLimit = rpc.Raise(wire.Atom("system_limit"))

// errProtected is what a BIF raises that would end a process protected from the caller, or take its name.
var errProtected = rpc.Raise(wire.Atom("protected"))

// pair is {Name, Value}.
func pair(name string, v any) wire.Tuple { return wire.Tuple{wire.Atom(name), v} }

// within returns ctx with a timeout: milliseconds, or the atom infinity.
func within(ctx context.Context, timeout any) (context.Context, context.CancelFunc, bool) {
	if timeout == wire.Atom("infinity") {
		return ctx, func() {}, true
	}
	ms, ok := wire.AsInt(timeout)
	if !ok || ms < 0 || ms > int64(node.Infinity/time.Millisecond) {
		return ctx, func() {}, false
	}
	c, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	return c, cancel, true
}
