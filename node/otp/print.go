package otp

import (
	"context"
	"errors"
	"io"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// ErrNoLeader means that the caller has no process to print through: the context does not belong to a process, or its
// node has neither a process user nor a cluster.
var ErrNoLeader = errors.New("otp: the process has no group leader to print through")

// maxBrief is how much of a reason an error text shows, in bytes.
const maxBrief = 1 << 10

// printError is the answer of a group leader that does not print.
type printError struct{ reason any }

func (e *printError) Error() string {
	return "otp: the group leader did not print: " + wire.Formatter{Max: maxBrief}.Format(e.reason)
}

// Print prints through the group leader of the process that ctx belongs to, and waits until the leader has printed,
// like io:put_chars of Erlang. ctx is the context of an exported function, or comes from Context of [node.Process] or
// [node.Context]. The output of a process that another node has spawned, or of a function that it calls, appears there:
// in the shell where the call was typed.
//
// A group leader is another process, perhaps on another node: an Actor's handler that prints holds up its stage until
// the runtime notices.
//
// Errors: [ErrNoLeader], the answer of a group leader that does not print, [*node.ExitError] if the group leader is
// gone (noproc, noconnection), the error of ctx.
func Print(ctx context.Context, text string) error {
	n, pid, ok := node.Calling(ctx)
	if !ok {
		return ErrNoLeader
	}
	leader := n.Inside(process.Key{}).Leader(pid)
	if leader.IsZero() {
		return ErrNoLeader
	}
	answer, err := exchange(ctx, n, leader, func(self wire.PID, ref wire.Ref) any {
		return wire.Tuple{wire.Atom("io_request"), self, ref, wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode"), []byte(text)}}
	})
	if err != nil {
		return err
	}
	return printed(answer)
}

// printed reads the answer of a group leader.
func printed(answer any) error {
	if answer == wire.AtomOK {
		return nil
	}
	if t, ok := answer.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.AtomError {
		answer = t[1]
	}
	return &printError{answer}
}

// Writer is Print as an io.Writer: for fmt.Fprintf, loggers and the like. The text must be UTF-8, and a character must
// not be split between two writes.
func Writer(ctx context.Context) io.Writer { return writer{ctx} }

type writer struct{ ctx context.Context }

// Write is part of io.Writer.
func (w writer) Write(b []byte) (int, error) {
	if err := Print(w.ctx, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func init() { values.Enter(ErrNoLeader) }
