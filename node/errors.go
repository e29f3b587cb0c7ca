package node

import (
	"errors"

	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/quota"
)

// What callers branch on. Where a function is documented to return one of
// these, errors.Is finds it.
var (
	ErrNodeStopped  = errors.New("node: the node has been stopped")
	ErrExited       = errors.New("node: the calling process has exited")
	ErrNoProcess    = errors.New("node: no such process")
	ErrNoDest       = errors.New("node: the destination is nil")
	ErrNoName       = error(noName{}) // errors.Is it ErrNoProcess, too
	ErrNameTaken    = names.ErrTaken
	ErrBadName      = names.ErrBad
	ErrNilBehaviour = errors.New("node: the behaviour to spawn is nil")
	ErrBadOption    = errors.New("node: invalid spawn option")
	ErrTooMany      = quota.ErrTooMany // the node's, or one of a peer: ClusterLimits
	ErrMailboxFull  = errors.New("node: the mailbox is full")
	ErrTimeout      = errors.New("node: timed out")
	ErrBadTimeout   = errors.New("node: a timeout must not be negative")
	ErrSelfCall     = errors.New("node: a process cannot call itself: it would wait for its own answer")
	ErrCycle        = errors.New("node: the processes of a cycle would wait for each other") // see Config.DetectCycles
	ErrReplied      = errors.New("node: the request already has a reply, or its caller no longer waits")
	ErrReplyType    = errors.New("node: the reply does not have the type that the caller wants")
	ErrIgnored      = errors.New("node: Init returned Ignore: the process does not run")
	ErrThreadLocked = errors.New("node: a coroutine cannot wait while it is locked to its thread (runtime.LockOSThread)")
	ErrNoConnection = errors.New("node: not connected to the other node")
	ErrNotHere      = errors.New("node: the process belongs to another node, and this node runs without distribution")
)

// noName is ErrNoName.
type noName struct{}

func (noName) Error() string { return "node: no process is registered under that name" }

// Is makes errors.Is(ErrNoName, ErrNoProcess) true.
func (noName) Is(target error) bool { return target == ErrNoProcess }
