package genserver

import (
	"context"
	"fmt"
	"reflect"

	"github.com/actornode/actornode/node"
)

// Returns is embedded in a request type to say what type its reply has.
type Returns[R any] struct{}

func (Returns[R]) returns(R) {}

// Asks is a request type with an embedded [Returns].
type Asks[R any] interface{ returns(R) }

// Kind is a sort of server: what its state is made of and which method handles
// what. It is made once, by [Define], and may be used by any number of servers.
type Kind[S any] struct {
	direct []Handler[S] // by the type of the message
	calls  []Handler[S] // by the type of what is in a call from elsewhere
	casts  []Handler[S] // by the type of what is in a cast from elsewhere

	anyCall, anyCast, anyInfo Handler[S] // for what nobody else wants; run is nil: there is none

	many map[reflect.Type]Handler[S] // direct, once it is long
}

// few is how many handlers are looked through one by one.
const few = 8

// Handler says which method handles what. OnCall, OnRequest, OnCast and OnInfo
// make one.
type Handler[S any] struct {
	what what
	body reflect.Type // of the request, cast or message
	typ  reflect.Type // of the message that run takes
	run  func(s *server[S], msg any) error
	// open runs the handler of a call or cast that has come from elsewhere, so
	// that its body has no type of its own.
	open func(s *server[S], from node.From, body any) error
}

type what uint8

const (
	call what = iota
	cast
	info
)

func (w what) String() string { return [...]string{"call", "cast", "message"}[w] }

// OnCall handles requests of type Q, whose replies have the type R: the compiler
// holds caller and server to it. If f returns an error, the caller gets the error
// and the server goes on, except for node.ExitWith, which ends the server; for
// [Later], with which nobody gets a reply until Context.From's is answered; and
// after Context.Stop.
func OnCall[S any, Q Asks[R], R any](f func(S, *Context, Q) (R, error)) Handler[S] {
	return onRequest(f)
}

// OnRequest is OnCall for requests that do not say what they return: terms from
// Erlang, or any type. With Q = any it takes what no other handler does.
func OnRequest[S, Q, R any](f func(S, *Context, Q) (R, error)) Handler[S] { return onRequest(f) }

func onRequest[S, Q, R any](f func(S, *Context, Q) (R, error)) Handler[S] {
	return Handler[S]{
		what: call, body: reflect.TypeFor[Q](), typ: reflect.TypeFor[node.Request[Q]](),
		run: func(s *server[S], msg any) error {
			m := msg.(node.Request[Q])
			s.from = m.From
			r, err := f(s.state, &s.Context, m.Body)
			if err != nil || s.rare != nil {
				return s.answered(r, err)
			}
			s.Context.Context.Reply(m.From, r)
			return nil
		},
		open: func(s *server[S], from node.From, body any) error {
			s.from = from
			q, _ := body.(Q) // not of that type only if Q is an interface type, and body nil
			r, err := f(s.state, &s.Context, q)
			return s.answered(r, err)
		},
	}
}

// OnCast handles casts of type M; an error ends the server. With M = any it takes
// what no other handler does.
func OnCast[S, M any](f func(S, *Context, M) error) Handler[S] {
	return Handler[S]{
		what: cast, body: reflect.TypeFor[M](), typ: reflect.TypeFor[castOf[M]](),
		run:  func(s *server[S], msg any) error { return f(s.state, &s.Context, msg.(castOf[M]).body) },
		open: func(s *server[S], _ node.From, body any) error { return f(s.state, &s.Context, body.(M)) },
	}
}

// OnInfo handles messages of type M that are neither calls nor casts, such as
// [node.Down], [node.Exited] and [Timeout]; an error ends the server. With M =
// any it takes what no other handler does.
func OnInfo[S, M any](f func(S, *Context, M) error) Handler[S] {
	return Handler[S]{
		what: info, body: reflect.TypeFor[M](), typ: reflect.TypeFor[M](),
		run: func(s *server[S], msg any) error { return f(s.state, &s.Context, msg.(M)) },
	}
}

// Define makes a Kind of server from the methods that handle what it is sent. It
// panics if two of them are for the same.
func Define[S any](handlers ...Handler[S]) *Kind[S] {
	k := &Kind[S]{}
	seen := make(map[reflect.Type]bool)
	anything := reflect.TypeFor[any]()
	for _, h := range handlers {
		if seen[h.typ] {
			panic(fmt.Sprintf("genserver: Define: two handlers for a %v of type %v", h.what, h.body))
		}
		seen[h.typ] = true
		if h.what != info || h.body != anything {
			k.direct = append(k.direct, h)
		}
		switch {
		case h.what == call && h.body == anything:
			k.anyCall = h
		case h.what == call:
			k.calls = append(k.calls, h)
		case h.what == cast && h.body == anything:
			k.anyCast = h
		case h.what == cast:
			k.casts = append(k.casts, h)
		case h.body == anything:
			k.anyInfo = h
		}
	}
	if len(k.direct) > few {
		k.many = make(map[reflect.Type]Handler[S])
		for _, h := range k.direct {
			k.many[h.typ] = h
		}
	}
	return k
}

// lookup finds the handler for a message, nil: none by its type.
func (k *Kind[S]) lookup(msg any) *Handler[S] {
	t := reflect.TypeOf(msg)
	if k.many != nil {
		if h, ok := k.many[t]; ok {
			return &h
		}
		return nil
	}
	for i := range k.direct {
		if k.direct[i].typ == t {
			return &k.direct[i]
		}
	}
	return nil
}

// byBody finds the handler of what came in a call or cast from elsewhere.
func byBody[S any](handlers []Handler[S], fallback Handler[S], body any) *Handler[S] {
	t := reflect.TypeOf(body)
	for i := range handlers {
		if handlers[i].body == t {
			return &handlers[i]
		}
	}
	if fallback.open != nil {
		return &fallback
	}
	return nil
}

// New makes a server of this kind, to be spawned: by node.SpawnWait, by a
// supervisor, or by Start.
func (k *Kind[S]) New(state S) node.Actor { return &server[S]{kind: k, state: state} }

// Start starts a server and waits until its Init has returned: start, or with
// Options.Link start_link, of gen_server. ctx bounds how long that may take. See
// [node.SpawnWait] for the errors.
func (k *Kind[S]) Start(ctx context.Context, from node.Caller, state S, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, k.New(state))
}

// StartMonitor is Start with a monitor of the caller from the beginning.
func (k *Kind[S]) StartMonitor(ctx context.Context, from node.Caller, state S, o node.Options) (node.PID, node.Ref, error) {
	return node.SpawnWaitMonitor(ctx, from, o, k.New(state))
}
