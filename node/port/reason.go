package port

import (
	"errors"
	"io/fs"
	"math/big"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Exit reasons of a port besides those that others give it; the list in the
// package's documentation is closed.
const (
	stdoutClosed wire.Atom = "stdout_closed"
	stdinClosed  wire.Atom = "stdin_closed"
	startTimeout wire.Atom = "start_timeout"
)

func badFrame(err error) any {
	return wire.Tuple{wire.Atom("badframe"), err.Error()}
}

func frameTooLarge(n int64, limit int) any {
	return wire.Tuple{wire.Atom("frame_too_large"), wire.IntegerOf(big.NewInt(n)), limit}
}

func stdinStalled(d time.Duration) any {
	return wire.Tuple{wire.Atom("stdin_stalled"), d.Milliseconds()}
}

func notStarted(err error) any {
	var errno syscall.Errno
	var why any = err.Error()
	switch {
	case errors.As(err, &errno) && errnoName(errno) != "":
		why = wire.Atom(strings.ToLower(errnoName(errno)))
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		why = wire.Atom("enoent")
	}
	return wire.Tuple{wire.Atom("not_started"), why}
}

// statusReason is the exit reason for the way a program has ended.
func statusReason(s ended) any {
	switch {
	case s.signal != "":
		return wire.Tuple{wire.Atom("signal"), wire.Atom(strings.ToLower(s.signal))}
	case s.code == 0:
		return node.Normal
	}
	return wire.Tuple{wire.Atom("exit_status"), s.code}
}
