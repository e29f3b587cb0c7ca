package migrate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Errors of this package; callers compare them with errors.Is.
var (
	// ErrNotStarted: [Start] has not been called for the node that To is called on.
	ErrNotStarted = errors.New("migrate: this node moves no processes: Start has not been called for it")
	// ErrNotThere: the other node takes no processes. It is no Go node, or Start has not been called there.
	ErrNotThere = errors.New("migrate: the other node takes no processes: it is no Go node, or has not called migrate.Start")
	// ErrNotAllowed: the other node has no such kind of process, or does not let this node move one there.
	ErrNotAllowed = errors.New("migrate: the other node does not take such a process")
	// ErrFixed: the process has something that cannot follow; the text says what.
	ErrFixed = errors.New("migrate: the process cannot move")
	// ErrMoving: the process is being moved already.
	ErrMoving = errors.New("migrate: the process is being moved")
	// ErrFailed: the other node has not taken the process, which goes on where it was.
	ErrFailed = errors.New("migrate: the move has failed")
	// ErrUnknown: the other node was told to start the process, and does not answer. The process waits here until
	// that node, or a new one with its name, says whether it has started.
	ErrUnknown = errors.New("migrate: it is not known yet whether the process has moved")
)

// MovedError says that a process is no longer on this node: a forwarder has its PID.
type MovedError struct{ To node.PID }

func (e *MovedError) Error() string { return fmt.Sprintf("migrate: the process has moved to %v", e.To) }

// Mover is an Actor that can move to another node: it hands out its state here and takes it in there. Servers of package
// genserver are Movers.
type Mover interface {
	node.Actor

	// MoveOut returns the state, a term or a value of a type that both nodes have registered with
	// [node.RegisterTypes]. The actor must go on as before if the move fails. An error says why it
	// cannot move now.
	MoveOut(c *node.Context) (state any, err error)

	// MoveIn takes in the state. It is called once, instead of Init, on a new actor, in the process that will run it.
	// No message has come yet, and MoveIn should send none: the move may still fail.
	MoveIn(c *node.Context, state any) error
}

// Kind is a kind of process that may move.
type Kind struct {
	Name node.Atom // the same on all nodes
	// New makes a new [Mover], always of the same Go type.
	New func() node.Actor
}

// service is the name of the process that carries out moves on a node.
const service node.Atom = "migrate"

// Start lets processes of the given kinds move from a node to others, and from others to it, if Allow of
// node.Distribution allows {migrate, Name, 1}. Call it once for each node.
//
// Errors: [node.ErrArgument] if a kind has no Name or New, or two kinds have the same name or Go type;
// [node.ErrNameTaken] if a process is registered as migrate.
func Start(ctx context.Context, n *node.Node, kinds ...Kind) error {
	return start(ctx, n, nil, pause, kinds)
}

// pause is how long a source in doubt waits before it asks again.
const pause = time.Second

// start is Start with hooks for tests: it calls step, unless nil, at each step of a move; pause is like the constant.
func start(ctx context.Context, n *node.Node, step func(c *node.Context, at string), pause time.Duration, kinds []Kind) error {
	t := &kindTable{make(map[node.Atom]Kind), make(map[reflect.Type]node.Atom), step, pause}
	for _, k := range kinds {
		if err := t.add(k); err != nil {
			return err
		}
	}
	s := process.Kept[node.Actor]{Name: service, ShowPeer: true, New: func() node.Actor { return newServer(t) }}
	_, err := n.Inside(process.Key{}).Keep(ctx, s)
	return err
}

// To moves a process of this node to another node. It returns the PID that the process has there; a forwarder
// stays under the old one. A process that comes back to a node gets back the PID that it had there.
//
// Whatever the error, the process is not lost and does not run twice. With the errors of this package and those below,
// it goes on where it was, except with ErrUnknown, which To returns after three unanswered questions to the other node:
// the process and its messages then wait for an answer without a time limit. When ctx ends, only To returns: the move
// goes on.
//
// Errors: those of this package's variables, [*MovedError]; [node.ErrNoProcess]; [node.ErrNameTaken] if
// another process has its name there; [*wire.EncodeError] if the state or a waiting message cannot be sent;
// [*node.ExitError] with the reason of a process that has ended meanwhile, or noconnection if the node cannot
// be reached; [node.ErrSelfCall] if from is the process itself.
func To(ctx context.Context, from node.Caller, pid node.PID, to node.Atom) (node.PID, error) {
	if s, ok := from.(interface{ Self() node.PID }); ok && s.Self() == pid {
		return node.PID{}, node.ErrSelfCall
	}
	now, err := node.Call[node.PID](ctx, from, service, order{pid, to})
	if errors.Is(err, node.ErrNoName) {
		err = ErrNotStarted
	}
	return now, err
}

// kindTable holds the kinds that may move. It never changes once a service has it.
type kindTable struct {
	named map[node.Atom]Kind
	types map[reflect.Type]node.Atom
	step  func(c *node.Context, at string)
	pause time.Duration
}

// at reports the step of a move to a test.
func (t *kindTable) at(c *node.Context, step string) {
	if t.step != nil {
		t.step(c, step)
	}
}

func (t *kindTable) add(k Kind) error {
	if k.Name == "" || k.New == nil {
		return fmt.Errorf("%w: a migrate.Kind needs a Name and New", node.ErrArgument)
	}
	b := k.New()
	if _, ok := b.(Mover); !ok {
		if _, named := b.(node.BehaviourNamer); named {
			return fmt.Errorf("%w: what New of the migrate.Kind %s returns has %s", node.ErrArgument, k.Name, typeOf(b))
		}
		return fmt.Errorf("%w: what New of the migrate.Kind %s returns, a %T, is no Mover", node.ErrArgument, k.Name, b)
	}
	typ := reflect.TypeOf(b)
	if _, ok := t.named[k.Name]; ok || t.types[typ] != "" {
		return fmt.Errorf("%w: the migrate.Kind %s has a name or a Go type, %v, that another has", node.ErrArgument, k.Name, typ)
	}
	t.named[k.Name], t.types[typ] = k, k.Name
	return nil
}

// fixed returns an ErrFixed that names what cannot follow.
func fixed(what string) error { return fmt.Errorf("%w: it has %s", ErrFixed, what) }

// export returns the argument for Allow of node.Distribution.
func export(kind node.Atom) wire.Export {
	return wire.Export{Module: service, Function: kind, Arity: 1}
}

func init() {
	values.Enter(ErrNotStarted, ErrNotThere, ErrNotAllowed, ErrFixed, ErrMoving, ErrFailed, ErrUnknown)
	node.Know(process.Key{}, node.TypeOf[prepare]("$migrate.prepare"), node.TypeOf[link]("$migrate.link"),
		node.TypeOf[monitor]("$migrate.monitor"), node.TypeOf[prepared]("$migrate.prepared"),
		node.TypeOf[commit]("$migrate.commit"), node.TypeOf[abort]("$migrate.abort"),
		node.TypeOf[started]("$migrate.started"), node.TypeOf[failed]("$migrate.failed"),
		node.TypeOf[outcome]("$migrate.outcome"), node.TypeOf[confirm]("$migrate.confirm"),
		node.TypeOf[mark]("$migrate.mark"), node.TypeOf[exited]("$migrate.exited"), node.TypeOf[down]("$migrate.down"),
		node.TypeOf[drop]("$migrate.drop"))
}

// notThere replaces the error of a request to a missing service by ErrNotThere.
func notThere(err error, to node.Atom) error {
	e := (*node.ExitError)(nil)
	if errors.Is(err, node.ErrNoName) || errors.As(err, &e) && e.Reason == node.NoProc {
		return fmt.Errorf("%w: %s", ErrNotThere, to)
	}
	return err
}
