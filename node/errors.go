package node

import "errors"

// What callers branch on. Where a function is documented to return one of
// these, errors.Is finds it.
var (
	ErrNodeStopped  = errors.New("node: the node has been stopped")
	ErrExited       = errors.New("node: the calling process has exited")
	ErrNoProcess    = errors.New("node: no such process")
	ErrNoName       = errors.New("node: no process is registered under that name")
	ErrNameTaken    = errors.New("node: the name is taken")
	ErrBadName      = errors.New("node: not a name that can be registered")
	ErrNilBehaviour = errors.New("node: the behaviour is nil")
	ErrBadOption    = errors.New("node: impossible spawn option")
	ErrTooMany      = errors.New("node: the process limit has been reached") // the node's, or one of a peer: ClusterLimits
	ErrMailboxFull  = errors.New("node: the mailbox is full")
	ErrTimeout      = errors.New("node: timeout")
	ErrBadTimeout   = errors.New("node: a timeout must not be negative")
	ErrReplied      = errors.New("node: the request has been replied to, or its caller has given up")
	ErrReplyType    = errors.New("node: the reply has another type than the caller asked for")
	ErrIgnored      = errors.New("node: Init has chosen not to run the process")
	ErrNoConnection = errors.New("node: there is no connection to the other node, or it is lost")
	ErrNotHere      = errors.New("node: the process lives on another node, and this node is not connected to any")
)
