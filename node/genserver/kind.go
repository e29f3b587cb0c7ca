package genserver

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Returns, embedded in a request type, says what type its reply has. It takes
// no memory, unless it is the last field.
type Returns[R any] struct{}

func (Returns[R]) embedReturns(R) {} // a compiler's message names it: "missing method embedReturns"

// Returning is a request type with an embedded [Returns], or [To].
type Returning[R any] interface{ embedReturns(R) }

// Kind is a kind of server: the type of its state, and which method handles
// what. [Define] makes it once, for any number of servers.
type Kind[S any] struct {
	direct index[S]     // by the type of the message
	bodies [3]bodies[S] // of calls, casts (with or without their Go type), and messages
	late   bool         // see Late
}

// Handler says which method handles what. OnCall, OnAnyCall, OnCast and OnInfo
// return one.
type Handler[S any] struct {
	what messageKind
	body reflect.Type // of the request, cast or message
	typ  reflect.Type // of the message that run takes
	run  func(s *server[S], msg any) error
	// open runs the handler when it was found by the type of the body.
	open func(s *server[S], from node.From, body any) error
}

type messageKind uint8

const (
	call messageKind = iota
	cast
	info
)

func (w messageKind) String() string { return [...]string{"call", "cast", "message"}[w] }

// loose reports whether h is for an interface type, any included.
func (h *Handler[S]) loose() bool { return h.body.Kind() == reflect.Interface }

// takes reports whether h, which is loose, takes a body of type t. t is nil for a
// nil body.
func (h *Handler[S]) takes(t reflect.Type) bool {
	return h.body.NumMethod() == 0 || t != nil && t.Implements(h.body)
}

// OnCall handles requests of type Q with replies of type R: the compiler checks caller and
// server. A request whose caller has given up is not handled: see [Kind.Late]. If f returns an
// error, the caller gets the error instead of a reply and the server goes on, with two exceptions:
// after [ErrReplyLater] the reply is what you send through Context.From; node.ExitWith ends the
// server, and the caller gets a [*node.ExitError].
func OnCall[S any, Q Returning[R], R any](f func(S, *Context, Q) (R, error)) Handler[S] {
	return callHandler(f)
}

// OnAnyCall is [OnCall] for requests that do not say what they return, such as
// terms from Erlang. If Q is an interface, such as any, it takes the requests that no
// handler for their exact type takes.
func OnAnyCall[S, Q, R any](f func(S, *Context, Q) (R, error)) Handler[S] { return callHandler(f) }

func callHandler[S, Q, R any](f func(S, *Context, Q) (R, error)) Handler[S] {
	return Handler[S]{
		what: call, body: reflect.TypeFor[Q](), typ: reflect.TypeFor[node.Request[Q]](),
		run: func(s *server[S], msg any) error {
			m := msg.(node.Request[Q])
			if !s.kind.late && !m.Pending() {
				return nil
			}
			s.from = m.From
			r, err := f(s.state, &s.Context, m.Body)
			if err != nil || s.extras != nil {
				return s.answered(r, err)
			}
			s.Context.ActorContext.Reply(m.From, r)
			return nil
		},
		open: func(s *server[S], from node.From, body any) error {
			if !s.kind.late && !from.Pending() {
				return nil
			}
			s.from = from
			q, _ := body.(Q) // fails only if Q is an interface and body is nil
			r, err := f(s.state, &s.Context, q)
			return s.answered(r, err)
		},
	}
}

// OnCast handles casts of type M; an error ends the server. If M is an
// interface, it takes the casts that no handler for their exact type takes.
func OnCast[S, M any](f func(S, *Context, M) error) Handler[S] {
	return Handler[S]{
		what: cast, body: reflect.TypeFor[M](), typ: reflect.TypeFor[node.Cast[M]](),
		run: func(s *server[S], msg any) error {
			s.from = node.From{}
			return f(s.state, &s.Context, msg.(node.Cast[M]).Body)
		},
		open: func(s *server[S], _ node.From, body any) error {
			m, _ := body.(M)
			return f(s.state, &s.Context, m)
		},
	}
}

// OnInfo handles messages of type M that are neither calls nor casts, such as
// [node.Down], [node.Exited] and [Timeout]; an error ends the server. If M is an
// interface, it takes the messages that no handler for their exact type takes.
func OnInfo[S, M any](f func(S, *Context, M) error) Handler[S] {
	open := func(s *server[S], _ node.From, msg any) error {
		m, _ := msg.(M)
		return f(s.state, &s.Context, m)
	}
	return Handler[S]{
		what: info, body: reflect.TypeFor[M](), typ: reflect.TypeFor[M](), open: open,
		run: func(s *server[S], msg any) error { return open(s, node.From{}, msg) },
	}
}

// Define makes a Kind of server from its handlers. A handler for a struct whose etf tag
// makes it a tuple with a first atom, such as `etf:"add,tuple"`, also takes that term (see package wire/etf),
// unless there is a handler for wire.Tuple. Define panics if two handlers are for the same type. Their order
// matters only if a value implements several interfaces: the first such handler takes it, and the one for any
// comes last.
func Define[S any](handlers ...Handler[S]) *Kind[S] {
	k := &Kind[S]{}
	seen := make(map[reflect.Type]bool)
	for i := range handlers {
		h := &handlers[i]
		if seen[h.typ] {
			panic(fmt.Sprintf("genserver: Define: two handlers for a %v of type %v", h.what, h.body))
		}
		seen[h.typ] = true
		if !h.loose() {
			k.direct.add(h)
		}
		k.bodies[h.what].add(h)
	}
	return k
}

// index finds a handler by the type of the message.
type index[S any] struct {
	few  []*Handler[S]
	many map[reflect.Type]*Handler[S] // instead of few
}

// few is up to how many handlers find searches linearly.
const few = 8

func (x *index[S]) add(h *Handler[S]) {
	if x.few = append(x.few, h); len(x.few) <= few {
		return
	}
	if x.many == nil {
		x.many = make(map[reflect.Type]*Handler[S])
	}
	for _, h := range x.few {
		x.many[h.typ] = h
	}
}

// find returns the handler for the type of a message, or nil.
func (x *index[S]) find(msg any) *Handler[S] {
	t := reflect.TypeOf(msg)
	if x.many != nil {
		return x.many[t]
	}
	for _, h := range x.few {
		if h.typ == t {
			return h
		}
	}
	return nil
}

// bodies finds a handler by the type of a message's body.
type bodies[S any] struct {
	exact  map[reflect.Type]*Handler[S]
	tagged []term[S] // terms that stand for structs
	loose  []*Handler[S]
	any    *Handler[S]
}

// term is a tuple that a handler takes as a struct.
type term[S any] struct {
	values.TaggedKind
	h *Handler[S]
}

func (b *bodies[S]) add(h *Handler[S]) {
	switch {
	case !h.loose():
		if b.exact == nil {
			b.exact = make(map[reflect.Type]*Handler[S])
		}
		b.exact[h.body] = h
		if k, ok := values.TaggedOf(h.body); ok {
			b.tagged = append(b.tagged, term[S]{k, h})
		}
	case h.body.NumMethod() == 0 && b.any == nil:
		b.any = h
	default:
		b.loose = append(b.loose, h)
	}
}

// find returns the handler for a body, or nil.
func (b *bodies[S]) find(body any) *Handler[S] {
	t := reflect.TypeOf(body)
	if h := b.exact[t]; h != nil {
		return h
	}
	for _, h := range b.loose {
		if h.takes(t) {
			return h
		}
	}
	return b.any
}

// findAny is find, and also returns the body to hand to the handler. A tuple becomes the struct that it stands for if
// there is a handler for that struct and none for tuples. true and false, which are atoms in Erlang, become the atom if
// only a handler for atoms takes them.
func (b *bodies[S]) findAny(n *node.Node, body any) (*Handler[S], any) {
	if t, ok := body.(wire.Tuple); ok && b.exact[tupleType] == nil {
		for _, k := range b.tagged {
			if v, ok := k.Value(n, t); ok {
				return k.h, v
			}
		}
	}
	h := b.find(body)
	if is, ok := body.(bool); ok && h == nil {
		if body = wire.AtomFalse; is {
			body = wire.AtomTrue
		}
		h = b.find(body)
	}
	return h, body
}

// misfit says why a tuple does not fit the structs whose tag has its first atom; "" if no struct has it.
func (b *bodies[S]) misfit(n *node.Node, body any) string {
	t, ok := body.(wire.Tuple)
	if !ok {
		return ""
	}
	var all []string
	for _, k := range b.tagged {
		if err := k.Misfit(n, t); err != nil && len(all) < mostTypes {
			all = append(all, err.Error())
		}
	}
	return strings.Join(all, "; ")
}

var tupleType = reflect.TypeFor[wire.Tuple]()

// mostTypes is how many types an UnhandledError names.
const mostTypes = 16

// types names the body types that have handlers, the exact ones in alphabetical order.
func (b *bodies[S]) types() (names []string) {
	for t := range b.exact {
		names = append(names, t.String())
	}
	slices.Sort(names)
	for _, h := range b.loose {
		names = append(names, h.body.String())
	}
	return names[:min(len(names), mostTypes)]
}

// Late makes servers of this kind also handle requests whose caller no longer waits when their turn comes: the context
// of the call has ended, or the caller is gone. Other servers skip such requests, so that an overloaded server
// does not work for callers that have given up. It returns k.
func (k *Kind[S]) Late() *Kind[S] {
	k.late = true
	return k
}

// New makes a server of this kind. Spawn it once: with node.SpawnWait, by a
// supervisor, or with Start.
func (k *Kind[S]) New(state S) node.Actor { return &server[S]{kind: k, state: state} }

// Start starts a server and waits until its Init has returned: start of gen_server, or
// start_link with Options.Link. ctx limits how long Init may take: a
// server whose Init takes longer is killed. See [node.SpawnWait] for the errors.
func (k *Kind[S]) Start(ctx context.Context, from node.Caller, state S, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, k.New(state))
}
