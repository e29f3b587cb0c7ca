package statem

import (
	"errors"
	"strings"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// EventType is the type of an event. [StateTimeout], [EventTimeout] and what
// [Named] returns are timeouts.
type EventType string

// The types of events: event_type of gen_statem.
const (
	TypeCall     EventType = "call"          // somebody waits for a reply
	TypeCast     EventType = "cast"          // by genserver.Cast
	TypeInfo     EventType = "info"          // any other message, such as node.Down and node.Exited
	TypeInternal EventType = "internal"      // by Context.Insert
	TypeEnter    EventType = "enter"         // the state has been entered; see Kind.EnterCalls
	StateTimeout EventType = "state_timeout" // cancelled when the state changes
	EventTimeout EventType = "timeout"       // cancelled by any event
)

const named EventType = "timeout "

// Named returns the type of a timeout that runs until it fires, is cancelled, or is
// set again under the same name: {timeout, Name}.
func Named(name string) EventType { return named + EventType(name) }

// timeout reports whether t is a timeout.
func (t EventType) timeout() bool {
	return t == StateTimeout || t == EventTimeout || strings.HasPrefix(string(t), string(named))
}

// term is gen_statem's name for t: an atom, or {timeout, Name}.
func (t EventType) term() any {
	if name, ok := strings.CutPrefix(string(t), string(named)); ok {
		return wire.Tuple{wire.Atom(EventTimeout), wire.Atom(name)}
	}
	return wire.Atom(t)
}

// Event is what a state function handles.
type Event struct {
	Type    EventType
	Content any // the request, the message, the content given to the timeout, or [Entered]

	from node.From // of a call
}

// term is the event as Erlang would show it: {Type, Content}, {{call, From},
// Content}.
func (e Event) term() any {
	t := e.Type.term()
	if e.Type == TypeCall {
		t = wire.Tuple{t, sysmsg.Term(e.from)}
	}
	return wire.Tuple{t, sysmsg.Term(e.Content)}
}

// brief is the event for the log.
func (e Event) brief(n *node.Node) string {
	if e.Type == "" {
		return "none"
	}
	return wire.Format(e.Type.term()) + " " + sysmsg.Brief(n, e.Content)
}

// Entered is the content of an enter call.
type Entered struct {
	From node.Atom // the previous state; in the first state, that state itself
}

// term is the name of the previous state.
func (e Entered) term() any { return e.From }

// ErrUnhandled, returned from a state function, says that the state does not handle
// the event. A caller gets a [*genserver.UnhandledError]; any other event except an enter
// call is logged.
var ErrUnhandled = errors.New("statem: unhandled event")

// Why a machine ends when its states break the rules.
var (
	errNoState   = errors.New("statem: unknown state: want one that Define was given")
	errBadAction = errors.New("statem: not allowed here")
)

func init() {
	values.Enter(ErrUnhandled)
	termof.Enter(EventType.term)
	termof.Enter(Event.term)
	termof.Enter(Entered.term)
}
