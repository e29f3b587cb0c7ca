package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Name is the service's registered name.
const Name node.Atom = "actornode"

// ask makes a request and decodes the answer into *into, or drops it if into is nil. Errors: [*Error] if the service
// answers with an error, [ErrNoService], [*node.ExitError] with noconnection if the node cannot be reached, and the cause
// of ctx's end.
func ask(ctx context.Context, from node.Caller, at node.Atom, request, into any) error {
	v, err := node.Call[any](ctx, from, node.At{Name: Name, Node: at}, request)
	var exited *node.ExitError
	switch {
	case errors.Is(err, node.ErrNoName), errors.Is(err, node.ErrNoProcess):
		return fmt.Errorf("%w: %s", ErrNoService, at)
	case errors.As(err, &exited) && exited.Reason == node.NoConnection:
		return fmt.Errorf("admin: cannot reach %s: %w", at, err)
	case err != nil:
		return fmt.Errorf("admin: %s: %w", at, err)
	}
	return read(at, v, into)
}

// read reads {ok, Result} or {error, Reason}.
func read(at node.Atom, v, into any) error {
	t, ok := v.(wire.Tuple)
	switch {
	case ok && len(t) == 2 && t[0] == wire.AtomError:
		return failure(at, t[1]).ofUnknown()
	case !ok || len(t) != 2 || t[0] != wire.AtomOK:
		return fmt.Errorf("admin: the answer of %s is not one of an operator service: %s", at, brief(v))
	case into == nil:
		return nil
	}
	if err := etf.FromTerm(t[1], into); err != nil {
		return fmt.Errorf("admin: the answer of %s: %w", at, err)
	}
	return nil
}

// query returns {Name, Map of v}.
func query(name node.Atom, v any) (any, error) {
	t, err := etf.ToTerm(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return wire.Tuple{name, t}, nil
}

// askFor is ask with a query.
func askFor(ctx context.Context, from node.Caller, at, name node.Atom, v, into any) error {
	request, err := query(name, v)
	if err != nil {
		return err
	}
	return ask(ctx, from, at, request, into)
}

// Status returns the state of a node. Errors, as of all functions here: [*Error] if the service answers with an error,
// [ErrNoService], [*node.ExitError] with noconnection, and the cause of ctx's end.
func Status(ctx context.Context, from node.Caller, at node.Atom) (s Summary, err error) {
	err = ask(ctx, from, at, wire.Atom("status"), &s)
	return s, err
}

// Nodes lists the nodes to which a node is connected or connecting, including hidden ones, by name.
func Nodes(ctx context.Context, from node.Caller, at node.Atom) (p []Peer, err error) {
	err = ask(ctx, from, at, wire.Atom("nodes"), &p)
	return p, err
}

// Processes lists the processes selected by a query.
func Processes(ctx context.Context, from node.Caller, at node.Atom, q Query) (l Listing, err error) {
	err = askFor(ctx, from, at, "ps", q, &l)
	return l, err
}

// Tree returns the applications and supervisors of a node with their children, at most limit branches; 0 means the
// service's limit.
func Tree(ctx context.Context, from node.Caller, at node.Atom, limit int) (f Forest, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("tree"), wire.NewMap(wire.Atom("limit"), limit)}, &f)
	return f, err
}

// Info returns the details of a process. A target, here and below, is a [node.PID], a [node.Atom] (a registered name) or a
// string: a registered name, or a printed PID such as <0.12.0>, <go@host.12.0>, or just 12. Errors: [node.ErrNoProcess],
// [node.ErrNoName].
func Info(ctx context.Context, from node.Caller, at node.Atom, target any) (d Detail, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("info"), target}, &d)
	return d, err
}

// WaitsAt returns the waits of a node.
func WaitsAt(ctx context.Context, from node.Caller, at node.Atom, q WaitQuery) (w Waits, err error) {
	err = askFor(ctx, from, at, "waits", q, &w)
	return w, err
}

// GoStack returns what the code of a process is doing: its calls, or why it has none. Errors: as of Info.
func GoStack(ctx context.Context, from node.Caller, at node.Atom, target any) (s Stack, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("stack"), target}, &s)
	return s, err
}

// Send sends a term to a process.
func Send(ctx context.Context, from node.Caller, at node.Atom, target, msg any) error {
	return ask(ctx, from, at, wire.Tuple{wire.Atom("send"), target, msg}, nil)
}

// Call calls a process like gen_server:call, and returns its reply, a term. The process sees the node's service as the
// caller. d and ctx bound the call. Errors: [node.ErrTimeout], and an [*Error] with the Code exit if the process exits
// before it replies.
func Call(ctx context.Context, from node.Caller, at node.Atom, target, request any, d time.Duration) (reply any, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("call"), target, request, int(d.Milliseconds())}, &reply)
	return reply, err
}

// Spawn starts a process that runs module:function, exported by the node with len(args) arguments, and registers it as name
// unless that is "". Errors: [rpc.ErrUndef], [node.ErrNameTaken], [node.ErrArgument].
func Spawn(ctx context.Context, from node.Caller, at, module, function node.Atom, args []any,
	name node.Atom) (pid node.PID, err error) {
	request := wire.Tuple{wire.Atom("spawn"), module, function, wire.List(args)}
	if name != "" {
		request = append(request, name)
	}
	err = ask(ctx, from, at, request, &pid)
	return pid, err
}

// Exit sends an exit signal to a process, like exit/2: [node.Kill] cannot be trapped, and [node.Normal] has no effect on a
// process that does not trap exits.
func Exit(ctx context.Context, from node.Caller, at node.Atom, target, reason any) (pid node.PID, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("exit"), target, reason}, &pid)
	return pid, err
}

// Kill is like Exit, but waits at most d for the process to exit, and returns its PID and exit reason. If the process traps
// the signal and stays alive, the error is [node.ErrTimeout].
func Kill(
	ctx context.Context, from node.Caller, at node.Atom, target, reason any, d time.Duration,
) (pid node.PID, why any, err error) {
	var both wire.Tuple
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("exit"), target, reason, int(d.Milliseconds())}, &both)
	if err == nil && len(both) == 2 {
		pid, _ = both[0].(node.PID)
		return pid, both[1], nil
	}
	return pid, nil, cmp.Or(err, errors.New("admin: the node has answered something else than a process and its exit reason"))
}

// Register registers a process under a name.
func Register(ctx context.Context, from node.Caller, at, name node.Atom, target any) (pid node.PID, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("register"), name, target}, &pid)
	return pid, err
}

// Unregister removes a name, and returns the PID of its process.
func Unregister(ctx context.Context, from node.Caller, at, name node.Atom) (pid node.PID, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("unregister"), name}, &pid)
	return pid, err
}

// Connect makes a node connect to another.
func Connect(ctx context.Context, from node.Caller, at, to node.Atom) error {
	return ask(ctx, from, at, wire.Tuple{wire.Atom("connect"), to}, nil)
}

// Disconnect makes a node end its connection to another, and reports whether there was one.
func Disconnect(ctx context.Context, from node.Caller, at, to node.Atom) (was bool, err error) {
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("disconnect"), to}, &was)
	return was, err
}

// Drain prepares a node for its stop and waits until that is done. Draining continues if the caller gives up.
func Drain(ctx context.Context, from node.Caller, at node.Atom) error {
	return ask(ctx, from, at, wire.Atom("drain"), nil)
}

// Stop makes a node stop. It returns when the stop has begun; the connection to the node will be lost.
func Stop(ctx context.Context, from node.Caller, at node.Atom) error {
	return ask(ctx, from, at, wire.Atom("stop"), nil)
}

// LogLevel returns the log level of a node.
func LogLevel(ctx context.Context, from node.Caller, at node.Atom) (slog.Level, error) {
	return askLevel(ctx, from, at, wire.Atom("log_level"))
}

// SetLogLevel sets the log level of a node, and returns the previous one.
func SetLogLevel(ctx context.Context, from node.Caller, at node.Atom, l slog.Level) (was slog.Level, err error) {
	return askLevel(ctx, from, at, wire.Tuple{wire.Atom("log_level"), levelAtom(l)})
}

func askLevel(ctx context.Context, from node.Caller, at node.Atom, request any) (slog.Level, error) {
	var a node.Atom
	if err := ask(ctx, from, at, request, &a); err != nil {
		return 0, err
	}
	return levelOf(a)
}
