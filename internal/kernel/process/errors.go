package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Errors that package node exports.
var (
	ErrNodeStopped  = errors.New("node: the node has been stopped")
	ErrExited       = errors.New("node: the calling process has exited")
	ErrNoProcess    = errors.New("node: no such process")
	ErrNoName       = error(noName{}) // errors.Is it ErrNoProcess, too
	ErrMailboxFull  = errors.New("node: the mailbox is full")
	ErrDropped      = errors.New("node: the receiver's mailbox is full and the message was dropped")
	ErrTimeout      = error(timedOut{}) // errors.Is it context.DeadlineExceeded, too
	ErrCycle        = errors.New("node: the processes of a cycle would wait for each other")
	ErrThreadLocked = errors.New("node: a coroutine cannot wait while it is locked to its thread (runtime.LockOSThread)")
	ErrNotHere      = errors.New("node: the process belongs to another node, and this node runs without distribution")
	ErrUnhandled    = errors.New("node: the behaviour does not handle this message now")
)

// The arguments that calls of several packages reject. errors.Is they are [tables.ErrArgument].
var (
	ErrNoDest     = fmt.Errorf("%w: the destination is nil, or a zero PID or Ref", tables.ErrArgument)
	ErrBadTimeout = fmt.Errorf("%w: a timeout must not be negative", tables.ErrArgument)
)

// ErrGivesWay is returned by the Receive of an Actor of this module that has handled the message and yields to the other
// actors of its stage before the next one.
var ErrGivesWay = errors.New("node: the actor gives way")

// Exit reasons of the runtime itself.
const (
	Normal       wire.Atom = "normal"
	NoProc       wire.Atom = "noproc"
	NoConnection wire.Atom = "noconnection"
)

// timedOut is ErrTimeout.
type timedOut struct{}

func (timedOut) Error() string { return "node: timed out" }

// Is makes errors.Is(ErrTimeout, context.DeadlineExceeded) true.
func (timedOut) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout marks it as a timeout, like errors of packages net and context.
func (timedOut) Timeout() bool { return true }

// noName is ErrNoName.
type noName struct{}

func (noName) Error() string { return "node: no process is registered under that name" }

// Is makes errors.Is(ErrNoName, ErrNoProcess) true.
func (noName) Is(target error) bool { return target == ErrNoProcess }
