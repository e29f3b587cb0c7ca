package watch

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"

	"github.com/actornode/actornode/wire"
)

// MaxStacksToFind is the number of goroutines above which the stack of a process is not searched: that stops the program for as
// long as it takes to print the stacks of all goroutines.
const MaxStacksToFind = 10_000

// Reports logs reports. The zero value must be initialized by Init.
type Reports struct {
	log *slog.Logger

	// Count counts for metrics: crashes by behaviour, and by registered name.
	Count func(name string, labels ...string)

	mu      sync.Mutex
	awaited map[error]Crash // by reason; guarded by mu

	blocked          Throttle[blocked]
	left             Throttle[leftBy]
	refused, noRight Throttle[refusal]
}

// Init is called once, before any other method.
func (l *Reports) Init(log *slog.Logger, e env.Env, count func(name string, labels ...string)) {
	l.log, l.Count = log, count
	l.blocked.Init(e, Pace{1, every}, l.writeBlocked)
	l.left.Init(e, Pace{1, every}, l.writeLeft)
	l.refused.Init(e, Pace{1, every}, l.writeRefused)
	l.noRight.Init(e, Pace{1, every}, l.writeNoRight)
}

// Close logs what is not logged yet. Later only crashes are logged.
func (l *Reports) Close() {
	l.blocked.Close()
	l.left.Close()
	l.refused.Close()
	l.noRight.Close()
}

// blocked is the event of Blocked.
type blocked struct {
	executor.Blocked
	total    uint64
	stack    string
	returned bool // the handler, before its stack was found
}

// Blocked reports a handler that runs for too long; total is their number so far. The stack is that of now, so a report that is
// held has none.
func (l *Reports) Blocked(b executor.Blocked, total uint64) {
	if !l.log.Enabled(context.Background(), slog.LevelWarn) {
		return
	}
	e := blocked{Blocked: b, total: total, stack: "not searched: that of another was, within a second"}
	if l.blocked.Free() {
		e.stack, e.returned = stackOf(b)
	}
	l.blocked.Add(e)
}

// stackOf returns the stack of a handler that runs. returned reports that there is nothing to show: the handler has returned
// meanwhile; the machine may be busy, and it was not run.
func stackOf(b executor.Blocked) (stack string, returned bool) {
	if runtime.NumGoroutine() > MaxStacksToFind {
		return "not searched: too many goroutines", false
	}
	stack = string(b.Stack())
	return stack, stack == "" && fiber.GoroutineID() != 0 || strings.Contains(stack, idleWorker)
}

func (l *Reports) writeBlocked(e blocked, _ uint64) {
	if e.returned {
		l.log.Debug("a message handler took long", "process", e.Task.Name(), "stage", e.Stage, "total", e.total)
		return
	}
	l.log.Warn("a message handler runs for too long and blocks the actors of its scheduling stage", "process", e.Task.Name(),
		"stage", e.Stage, "noticed_after", e.For, "total", e.total, "stack", e.stack)
}

// idleWorker is part of the stack of a worker that runs no handler.
const idleWorker = "executor.(*Pool).next("

// refusal is the event of Refused and of NoRight.
type refusal struct {
	peer        wire.Atom
	addr, right string // of NoRight
	what        string // signal, or object
	process     string // of Refused
}

// Refused reports a signal of a peer that a protected process does not receive.
func (l *Reports) Refused(peer wire.Atom, signal, process string) {
	l.refused.Add(refusal{peer: peer, what: signal, process: process})
}

func (l *Reports) writeRefused(e refusal, not uint64) {
	l.log.Warn("refused a signal from another node: the process is protected", "peer", string(e.peer), "signal", e.what,
		"process", e.process, "refused", not+1)
}

// NoRight reports a request of a peer that lacks the right to it; what is its object, addr the address of the peer.
func (l *Reports) NoRight(peer wire.Atom, addr, right, what string) {
	l.noRight.Add(refusal{peer: peer, addr: addr, right: right, what: what})
}

func (l *Reports) writeNoRight(e refusal, not uint64) {
	l.log.Warn("refused what another node asked for: it has no right to it", "peer", string(e.peer), "addr", e.addr,
		"right", e.right, "of", e.what, "refused", not+1)
}
