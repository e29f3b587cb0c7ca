package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Errors of requests, in addition to those of package node.
var (
	ErrNoService    = errors.New("admin: no operator service runs on the node")
	ErrNotSupported = errors.New("admin: the node does not support the request")
	ErrNotAllowed   = errors.New("admin: the node does not allow the request")
	ErrBadRequest   = errors.New("admin: bad request")
	ErrBusy         = errors.New("admin: the service is busy")
)

// codes are the atoms of errors in answers. New ones are added only at the end: an answer may come from another release.
var codes = []struct {
	code node.Atom
	err  error
}{
	{"not_supported", ErrNotSupported},
	{"not_allowed", ErrNotAllowed},
	{"bad_request", ErrBadRequest},
	{"busy", ErrBusy},
	{"no_name", node.ErrNoName}, // also an ErrNoProcess
	{"no_process", node.ErrNoProcess},
	{"name_taken", node.ErrNameTaken},
	{"bad_argument", node.ErrArgument},
	{"undef", rpc.ErrUndef},
	{"too_many", node.ErrTooMany},
	{"mailbox_full", node.ErrMailboxFull},
	{"not_here", node.ErrNotHere},
	{"stopped", node.ErrNodeStopped},
	{"timeout", node.ErrTimeout},
	{"timeout", context.DeadlineExceeded},
	{"protected", node.ErrProtected},
}

// failed is the code of all other errors.
const failed node.Atom = "failed"

// Error is the answer of a service to a failed request. errors.Is finds the error for its Code, of this package or of
// package node.
type Error struct {
	At   node.Atom // the node that answered
	Code node.Atom // not_supported, not_allowed, bad_request, no_process, …; failed for all others
	Text string    // for people
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s", printable.Text(string(e.At)), printable.Text(e.Text))
}

// Is reports whether target is the error for the Code.
func (e *Error) Is(target error) bool {
	for _, c := range codes {
		if c.code == e.Code && c.err == target {
			return true
		}
	}
	return false
}

// ofUnknown turns the answer to an unknown request, of a node with an older release, into an [ErrNotSupported].
func (e *Error) ofUnknown() *Error {
	if request, _, ok := strings.Cut(e.Text, ": want one of call, connect, "); ok && e.Code == "bad_request" {
		request = strings.TrimPrefix(request, ErrBadRequest.Error()+": ")
		e.Code, e.Text = "not_supported", "the release of the node does not know the request "+request
	}
	return e
}

// refusal returns {error, {Code, Text}} for an error.
func refusal(err error) wire.Tuple {
	code := failed
	for _, c := range codes {
		if errors.Is(err, c.err) {
			code = c.code
			break
		}
	}
	return wire.Tuple{wire.AtomError, wire.Tuple{code, err.Error()}}
}

// failure reads the Reason of {error, Reason}.
func failure(at node.Atom, reason any) *Error {
	e := &Error{At: at, Code: failed, Text: brief(reason)}
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 {
		code, ok1 := t[0].(wire.Atom)
		text, ok2 := wire.AsText(t[1])
		if ok1 && ok2 {
			e.Code, e.Text = code, text
		}
	}
	return e
}
