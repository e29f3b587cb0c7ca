package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
)

// WorkerWatch shows tests the watch over a worker.
type WorkerWatch struct{ *workerWatch }

// WatchWorker returns a watch for a request over target, as Forward makes it.
func WatchWorker(a *process.Acting, asked process.Ticket, target PID) WorkerWatch {
	w := watchWorker(a, asked)
	w.Target = w.System.Lookup(target)
	w.arm().Call.List()
	return WorkerWatch{w}
}

func (w WorkerWatch) Ticket() process.Ticket { return w.ticket }

func (w WorkerWatch) Started(a *process.Acting, send func() error) error { return w.started(a, send) }

func (w WorkerWatch) TakeOver(forwarder *process.Process) { w.takeOver(forwarder) }

func (w WorkerWatch) AsWatch() calls.Watch { return w.workerWatch }

func SettleForwarded(a *process.Acting, asked process.Ticket, err error) bool {
	return settleForwarded(a, asked, nil, err)
}
