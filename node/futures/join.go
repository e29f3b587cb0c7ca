package futures

import (
	"fmt"
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

// Send sends a message to a process once a future is completed: what message makes of the value or the
// error. If message returns nil, nothing is sent. With [All] it joins calls into one message:
//
//	futures.Send(c, first, futures.All(c, linked...), func(_ []bool, err error) any { return Forward{hops} })
//
// A name or an alias stands for the process that has it then. Send never waits: if a mailbox of this node
// has no space, the message is a dead letter. The goroutine that completes the future calls message, which must not
// wait. A panic of message, and a message that cannot be sent, are logged.
func Send[R any](from node.Caller, to node.Dest, f *node.Future[R], message func(v R, err error) any) {
	n := from.Inside(process.Key{}).Node()
	owner := runner.OwnerOf(n.Inside(process.Key{}).System(), to)
	from.Inside(process.Key{}).Watch(f, func(node.Caller) {
		defer runtime.KeepAlive(owner) // the receiver is not collected before
		msg, err := made(message, f)
		if err == nil && msg != nil {
			err = n.SendOpt(node.SendOptions{NoWait: true}, to, msg)
		}
		if err != nil {
			n.Log().Error("a message for a future was not sent", "to", fmt.Sprint(to), "error", err)
		}
	})
}

// made calls message, and turns a panic into an error.
func made[R any](message func(R, error) any, f *node.Future[R]) (msg any, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &node.ExitError{Reason: node.Panicked(recover())}
		}
	}()
	v, _, err := f.Result()
	msg = message(v, err)
	returned = true
	return msg, nil
}

// GoWith is active.Go with a future as the argument: the method is called with its value once arg is
// completed. If arg fails, the result fails with the same error, and the method is not called.
func GoWith[T, A, R any](from node.Caller, to active.Addr[T], method func(T, *active.Context, A) (R, error),
	arg *node.Future[A]) *node.Future[R] {
	n := from.Inside(process.Key{}).Node() // whoever completes arg may be about to end
	return Chain(from, arg, func(_ node.Caller, v A) *node.Future[R] { return active.Go(n, to, method, v) })
}
