package node

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
)

// Errors that callers branch on. If a function is documented to return one, errors.Is finds it.
var (
	ErrArgument     = tables.ErrArgument // the text says which argument, and what is allowed
	ErrNodeStopped  = process.ErrNodeStopped
	ErrExited       = process.ErrExited
	ErrNoProcess    = process.ErrNoProcess
	ErrNoName       = process.ErrNoName // errors.Is it ErrNoProcess, too
	ErrNameTaken    = tables.ErrTaken
	ErrTooMany      = limits.ErrTooMany // processes, or entries of a peer: see Limits
	ErrMailboxFull  = process.ErrMailboxFull
	ErrTimeout      = process.ErrTimeout // errors.Is it context.DeadlineExceeded, too
	ErrSelfCall     = errors.New("node: a process cannot call itself: it would wait for its own answer")
	ErrCycle        = process.ErrCycle // see Config.DetectCycles
	ErrReplied      = errors.New("node: the request already has a reply, or its caller no longer waits")
	ErrReplyType    = errors.New("node: the reply does not have the type that the caller wants")
	ErrThreadLocked = process.ErrThreadLocked
	ErrNoConnection = errors.New("node: not connected to the other node")
	ErrNotHere      = process.ErrNotHere
)

var errNilBehaviour = fmt.Errorf("%w: the behaviour is nil", ErrArgument)
