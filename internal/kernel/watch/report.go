package watch

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"

	"github.com/actornode/actornode/wire"
)

// every is the minimum interval between log lines of each kind.
const every = time.Second

// maxStacksToFind is the number of goroutines above which the stack of a blocked handler is not searched: that stops the
// program for as long as it takes to print the stacks of all goroutines.
const maxStacksToFind = 10_000

// Reports logs reports. Its fields are set before it is used.
type Reports struct {
	Log *slog.Logger
	Env env.Env
	// Count counts for metrics: crashes by behaviour, and by registered name.
	Count func(name string, labels ...string)

	mu      sync.Mutex
	awaited map[error]Crash // by reason; guarded by mu

	blocked, refused, left, noRight Throttle
}

// Blocked reports a handler that runs for too long; total is their number so far.
func (l *Reports) Blocked(b executor.Blocked, total uint64) {
	if !l.Log.Enabled(context.Background(), slog.LevelWarn) {
		return
	}
	if _, due := l.blocked.Due(l.Env.Now(), every); !due {
		return
	}
	stack := "not searched: too many goroutines"
	if runtime.NumGoroutine() <= maxStacksToFind {
		if stack = string(b.Stack()); stack == "" && fiber.GoroutineID() != 0 || strings.Contains(stack, idleWorker) {
			// It has returned meanwhile, and there is nothing to show: the machine may be busy, and the handler was not run.
			l.Log.Debug("a message handler took long", "process", b.Task.Name(), "stage", b.Stage, "total", total)
			return
		}
	}
	l.Log.Warn("a message handler runs for too long and blocks the actors of its scheduling stage", "process", b.Task.Name(),
		"stage", b.Stage, "noticed_after", b.For, "total", total, "stack", stack)
}

// idleWorker is part of the stack of a worker that runs no handler.
const idleWorker = "executor.(*Pool).next("

// Refused reports a signal of a peer that a protected process does not receive. name returns the name of the process.
func (l *Reports) Refused(peer wire.Atom, signal string, name func() string) {
	if not, due := l.refused.Due(l.Env.Now(), every); due {
		l.Log.Warn("refused a signal from another node: the process is protected", "peer", string(peer), "signal", signal,
			"process", name(), "refused", not+1)
	}
}

// NoRight reports a request of a peer that lacks the right to it; what returns its object. addr is the address of the peer.
func (l *Reports) NoRight(peer wire.Atom, addr, right string, what func() string) {
	if not, due := l.noRight.Due(l.Env.Now(), every); due {
		l.Log.Warn("refused what another node asked for: it has no right to it", "peer", string(peer), "addr", addr, "right", right,
			"of", what(), "refused", not+1)
	}
}
