package pool

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// swept tells the sizer that a slot may be over.
type swept struct{}

// size is the process that changes the number of workers: it waits for the supervisor, which the front must not.
func (q *queue) size(p *node.Process) error {
	q.mu.Lock()
	q.sizer = p.Self()
	q.mu.Unlock()
	p.Inside(process.Key{}).Signal(q.self(), sizing{p.Self()})
	q.sweep(p) // what was over while none ran
	for {
		msg := p.Receive()
		r, ok := p.Node().AsRequest(msg)
		switch {
		case msg == any(swept{}):
			q.sweep(p)
		case !ok:
			p.Unknown(msg)
		default:
			if err := q.resize(p, r.Body); err != nil {
				_ = r.Fail(err)
			} else {
				_ = r.Reply(wire.AtomOK)
			}
		}
	}
}

// resize answers a request.
func (q *queue) resize(p *node.Process, body any) error {
	t, _ := body.(wire.Tuple)
	workers := 0
	if len(t) == 2 {
		workers, _ = t[1].(int)
	}
	if err := checkSize(workers); err != nil {
		return err
	}
	for {
		q.mu.Lock()
		if all := workers + len(q.retired); all > maxWorkers {
			q.mu.Unlock()
			return fmt.Errorf("%w: pool: with those that leave and have not ended yet, %d workers: want %d at most",
				node.ErrArgument, all, maxWorkers)
		}
		missing := workers - len(q.slots)
		if missing <= 0 {
			q.retire(workers)
			w := q.relieve()
			q.mu.Unlock()
			w.wake(q.plain())
			q.sweep(p)
			return nil
		}
		s := q.newSlot()
		q.mu.Unlock()
		_, err := supervisor.StartChild(p.Context(), p, p.Parent(), q.child(s))
		if err != nil {
			_ = supervisor.DeleteChild(p.Context(), p, p.Parent(), s.id) // it is not there
			return err
		}
		q.mu.Lock()
		q.slots = append(q.slots, s)
		q.mu.Unlock()
	}
}

// retire takes the slots beyond a number away. The caller has the lock.
func (q *queue) retire(workers int) {
	for _, s := range q.slots[workers:] {
		s.leaves = true
		q.retired = append(q.retired, s)
	}
	q.slots = slices.Delete(q.slots, workers, len(q.slots))
}

// sweep ends the workers of the slots that are over.
func (q *queue) sweep(p *node.Process) {
	for {
		q.mu.Lock()
		i := slices.IndexFunc(q.retired, q.isOver)
		if i < 0 {
			q.mu.Unlock()
			return
		}
		s := q.retired[i]
		q.retired = slices.Delete(q.retired, i, i+1)
		q.mu.Unlock()
		err := supervisor.TerminateChild(p.Context(), p, p.Parent(), s.id)
		if err == nil {
			err = supervisor.DeleteChild(p.Context(), p, p.Parent(), s.id)
		}
		if err != nil {
			p.Node().Log().Error("a pool cannot end a worker that it no longer needs", "pool", q.o.Name, "worker", s.id, "error", err)
		}
	}
}
