package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// exit is an exit status. New ones are added at the end.
type exit = int

const (
	exitOK          exit = 0 // done; a daemon has stopped on request
	exitFailed      exit = 1 // any other failure: a daemon could not start, or not stop in time
	exitUsage       exit = 2 // invalid command line, or invalid term
	exitUnreachable exit = 3 // the node cannot be reached, or the connection was lost
	exitCookie      exit = 4 // the node has another cookie
	exitNotFound    exit = 5 // no such process, name or exported function
	exitTimeout     exit = 6 // no answer in time
	exitRefused     exit = 7 // the node refused it
	exitUnsupported exit = 8 // the node has no operator's service, or it does not support this
	exitService     exit = 9 // a daemon has ended by itself: one of its services failed too often

	exitFindings exit = 10 // doctor has found something wrong

	exitInterrupted exit = 130 // by a signal, as in a shell
)

const exitHelp = `Exit status: 0 done; 1 failed; 2 wrong command line; 3 node not reachable; 4 wrong
cookie; 5 no such process, name or function; 6 timeout; 7 not allowed; 8 not supported
by the node; 9 a daemon ended because one of its own services ended too often;
10 doctor has found something wrong; 130 interrupted.`

// failure is an error with an exit status.
type failure struct {
	code exit
	text string // for people, before the cause; may be ""
	err  error  // the cause; may be nil
}

// fail returns a failure with a formatted text.
func fail(code exit, err error, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...), err}
}

func (f *failure) Error() string {
	switch {
	case f.err == nil:
		return f.text
	case f.text == "":
		return f.err.Error()
	}
	return f.text + ": " + f.err.Error()
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// codes maps errors of other packages to exit codes; the first match wins.
var codes = []struct {
	err  error
	code exit
}{
	{dist.ErrCookie, exitCookie},
	{admin.ErrNoService, exitUnsupported},
	{admin.ErrNotSupported, exitUnsupported},
	{admin.ErrNotAllowed, exitRefused},
	{dist.ErrNotAllowed, exitRefused},
	{node.ErrProtected, exitRefused},
	{admin.ErrBadRequest, exitUsage},
	{node.ErrNoProcess, exitNotFound},
	{node.ErrNoName, exitNotFound},
	{rpc.ErrUndef, exitNotFound},
	{node.ErrTimeout, exitTimeout},
	{context.DeadlineExceeded, exitTimeout},
	{context.Canceled, exitInterrupted},
	{admin.ErrLost, exitUnreachable},
}

// codeOf returns the exit status for err.
func codeOf(err error) exit {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	var exited *node.ExitError
	if errors.As(err, &exited) && exited.Reason == node.NoConnection {
		return exitUnreachable
	}
	var spawn *rpc.SpawnError
	if errors.As(err, &spawn) {
		switch spawn.Reason {
		case wire.Atom("undef"):
			return exitNotFound
		case wire.Atom("notsup"):
			return exitUnsupported
		}
	}
	if err != nil {
		return exitFailed
	}
	return exitOK
}
