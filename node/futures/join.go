package futures

import (
	"fmt"
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

// Send sends a message to a process once a future is completed: what message makes of its value, or of the
// error that it has failed with; nothing where that is nil. With [All] it is a join of calls into one message:
//
//	futures.Send(c, first, futures.All(c, linked...), func(_ []bool, err error) any { return Forward{hops} })
//
// A name or an alias stands for the process that has it then. Nobody is held up: to a mailbox of this node that
// has no space the message is a dead letter. message is called by whoever completes the future, and must not
// wait. What it panics with, and a message that cannot be sent, is logged.
func Send[R any](from node.Caller, to node.Dest, f *node.Future[R], message func(v R, err error) any) {
	n := from.Inside(process.Key{}).Node()
	owner := runner.OwnerOf(n.Inside(process.Key{}).System(), to)
	from.Inside(process.Key{}).Watch(f, func(node.Caller) {
		defer runtime.KeepAlive(owner) // who is to get it is not collected before
		msg, err := made(message, f)
		if err == nil && msg != nil {
			err = n.SendOpt(node.SendOptions{NoWait: true}, to, msg)
		}
		if err != nil {
			n.Log().Error("a message for a future was not sent", "to", fmt.Sprint(to), "error", err)
		}
	})
}

// made calls message. Its panic is an error.
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

// GoWith is active.Go with an argument that is yet to come: the method is called once arg is completed, with
// its value. If that fails the result does, with the same error, and nothing is called.
func GoWith[T, A, R any](from node.Caller, to active.Addr[T], method func(T, *active.Context, A) (R, error),
	arg *node.Future[A]) *node.Future[R] {
	n := from.Inside(process.Key{}).Node() // whoever completes arg may be about to end
	return Chain(from, arg, func(_ node.Caller, v A) *node.Future[R] { return active.Go(n, to, method, v) })
}
