package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// Handler handles a message as the Receive of an [Actor] does.
type Handler func(c *Context, msg any) error

// An Interceptor is code around what Actors handle: for logs, measurements, and checks of rights. It is called with each
// message, by many processes at once, and calls next to let the Actor handle it: at most once, before it returns. Its result is
// that of the handler: an error ends the process, as does a panic. [Config].Interceptors are for all processes of a node,
// [Options].Interceptors for one. Of several, the first is the outermost, and those of the node are outside those of a
// process.
//
//	func slow(c *node.Context, msg any, next node.Handler) error {
//		began := time.Now()
//		defer func() { c.Log().Debug("handled", "type", fmt.Sprintf("%T", msg), "took", time.Since(began)) }()
//		return next(c, msg)
//	}
//
// AsRequest of a Node says whether msg is a call; one that is not passed on must be answered, with Fail of its From, or its
// caller waits. The context of the call is in its From. An Interceptor sees what behaviours of this module send themselves,
// too, such as timeouts: pass on what you do not know. It is not called for Init, for a ProcessFunc, which takes its messages
// itself, and for the services of the node.
type Interceptor func(c *Context, msg any, next Handler) error

// Sending is what an interceptor of sends sees.
type Sending struct {
	From PID  // of the process that sends; the zero PID: a plain goroutine, or the node
	To   Dest // as the sender gave it
	Msg  any  // the message, or the body of a request
	Call bool // it is a request
}

// A SendInterceptor is called by the sender before each message that it sends, also by a timer or to another node, and before
// each request, also one that it forwards: for logs, counts, and checks of rights. Its error is that of the send, or of the
// call, and then nothing is sent. It is called by many processes at once. [Config].SendInterceptors are for all processes of
// a node, and for what its plain goroutines send; [Options].SendInterceptors for one process of any kind. Those of the node
// come first.
//
// It does not see what is no message: replies, signals, spawns. It sees a [Node.Ping], which is a call. It is not called for
// the services of the node, and for what other nodes send. What it sends itself goes through it as well.
type SendInterceptor func(s Sending) error

// checkSends returns what calls first, which may be nil, and all interceptors. It is first, perhaps nil, if there are none.
func checkSends(first process.SendCheck, all []SendInterceptor) process.SendCheck {
	if len(all) == 0 {
		return first
	}
	return func(a *process.Acting, to Dest, msg any, call bool) error {
		if first != nil {
			if err := first(a, to, msg, call); err != nil {
				return err
			}
		}
		s := Sending{From: a.PID(), To: to, Msg: msg, Call: call}
		for _, f := range all {
			if err := f(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// intercepted is an Actor with interceptors. It keeps what the Actor becomes.
type intercepted struct {
	inner Actor
	first Handler
}

// interceptedInit is an intercepted Initializer.
type interceptedInit struct{ *intercepted }

// intercept returns b with the interceptors of the node and of the options.
func (n *Node) intercept(o *Options, b Actor) Actor {
	w := &intercepted{inner: b}
	w.first = func(c *Context, msg any) error { return w.inner.Receive(c, msg) }
	for _, all := range [][]Interceptor{o.Interceptors, n.cfg.Interceptors} {
		for k := len(all) - 1; k >= 0; k-- {
			intercept, next := all[k], w.first
			w.first = func(c *Context, msg any) error { return intercept(c, msg, next) }
		}
	}
	if _, ok := b.(Initializer); ok {
		return interceptedInit{w}
	}
	return w
}

// Behaviour returns what the node shows as the behaviour of the process.
func (w *intercepted) Behaviour() Actor { return inbox.BehaviourOf(w.inner) }

// Receive is part of Actor.
func (w *intercepted) Receive(c *Context, msg any) error {
	defer c.InsideTurn(process.Key{}).Slot(c.InsideTurn(process.Key{}).Slot(&w.inner))
	return w.first(c, msg)
}

// Init is part of Initializer.
func (w interceptedInit) Init(c *Context) error {
	defer c.InsideTurn(process.Key{}).Slot(c.InsideTurn(process.Key{}).Slot(&w.inner))
	return w.inner.(Initializer).Init(c)
}
