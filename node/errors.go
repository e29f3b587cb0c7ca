package node

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
)

// Errors that callers branch on. If a function is documented to return one, errors.Is finds it.
var (
	ErrNodeStopped  = process.ErrNodeStopped
	ErrExited       = process.ErrExited
	ErrNoProcess    = process.ErrNoProcess
	ErrNoDest       = process.ErrNoDest
	ErrNoName       = process.ErrNoName // errors.Is it ErrNoProcess, too
	ErrNameTaken    = tables.ErrTaken
	ErrBadName      = tables.ErrBad
	ErrNilBehaviour = errors.New("node: the behaviour to spawn is nil")
	ErrBadOption    = errors.New("node: invalid spawn option")
	ErrTooMany      = limits.ErrTooMany // the node's, or one of a peer: ClusterLimits
	ErrMailboxFull  = process.ErrMailboxFull
	ErrTimeout      = process.ErrTimeout // errors.Is it context.DeadlineExceeded, too
	ErrBadTimeout   = process.ErrBadTimeout
	ErrSelfCall     = errors.New("node: a process cannot call itself: it would wait for its own answer")
	ErrCycle        = process.ErrCycle // see Config.DetectCycles
	ErrReplied      = errors.New("node: the request already has a reply, or its caller no longer waits")
	ErrReplyType    = errors.New("node: the reply does not have the type that the caller wants")
	ErrIgnored      = errors.New("node: Init returned Ignore: the process does not run")
	ErrThreadLocked = process.ErrThreadLocked
	ErrNoConnection = errors.New("node: not connected to the other node")
	ErrNotHere      = process.ErrNotHere
)
