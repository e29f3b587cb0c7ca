package keyed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// add makes the entry of a key, and starts its process once it has a place.
func (k *keeper[K]) add(key K, waiting []waiter[K]) {
	e := &entry[K]{key: key, change: &change[K]{waiting: waiting}}
	e.word.Store(closed)
	if k.places >= k.g.kind.Max {
		if !k.makeRoom() {
			k.count(countRefusedFull)
			for _, w := range waiting {
				w.Reply(outcome{fmt.Errorf("%w: there are %d, which is Kind.Max", ErrFull, k.places)})
			}
			return
		}
		if k.places >= k.g.kind.Max {
			k.g.table.put(e)
			k.line = append(k.line, e)
			return
		}
	}
	k.g.table.put(e)
	k.place(e)
}

// place gives e a place.
func (k *keeper[K]) place(e *entry[K]) {
	k.places++
	k.push(e)
	k.begin(e)
}

// begin starts the process of e, in a new entry if e has had one.
func (k *keeper[K]) begin(e *entry[K]) {
	if e.process != nil {
		old := e
		e = &entry[K]{key: old.key, change: old.change}
		e.word.Store(closed)
		k.g.table.put(e)
		k.unlink(old)
		k.push(e)
		old.change = nil
	}
	k.end(e)
	ch := e.change
	*ch = change[K]{phase: starting, waiting: ch.waiting, failure: ch.failure, ran: ch.ran}
	b, err := k.make(e.key)
	if err != nil {
		k.failed(e, err)
		return
	}
	o := k.g.kind.Options
	o.Link, o.Via = true, nil
	_, o.Announce = b.(node.Initializer)
	o.Watched(process.Key{}, func(p *process.Process) { e.process = p })
	pid, err := k.c.SpawnOpt(o, b)
	if err != nil {
		e.process = nil
		k.failed(e, err)
		return
	}
	k.byPID[pid] = e
	k.count(countStarted)
	k.g.processes.Add(1)
	if !o.Announce {
		k.started(e)
	}
}

// make calls New.
func (k *keeper[K]) make(key K) (b node.Actor, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &node.ExitError{Reason: node.Panicked(recover())}
		}
	}()
	b, err = k.g.kind.New(key)
	if via := k.g.kind.Options.Via; err == nil && b != nil && via != nil {
		b = via(b)
	}
	returned = true
	if err == nil && b == nil {
		err = errors.New("New returned neither a behaviour nor an error")
	}
	return b, err
}

// started lets in the users of a process that has started.
func (k *keeper[K]) started(e *entry[K]) {
	ch := e.change
	if ch.phase != starting || ch.exited {
		return // it ends already
	}
	if log := k.node.Log(); log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("progress report", "supervisor", string(k.g.kind.Name), "process", e.process.PID().String())
	}
	waiting := ch.waiting
	ch.phase, ch.waiting = running, nil
	if ch.failure == nil {
		e.change = nil
	}
	e.open()
	for _, w := range waiting {
		k.admit(e, w)
	}
}

// failed records that e has failed, and answers its waiters. Its process, if it had one, is over.
func (k *keeper[K]) failed(e *entry[K], err error) {
	ch, kind, now := e.change, &k.g.kind, time.Now()
	if errors.Is(err, node.ErrIgnore) {
		k.answer(e, err)
		k.remove(e)
		return
	}
	k.count(countCrashed)
	f := FailingError{Group: kind.Name, Since: now}
	if ch.failure != nil {
		f = *ch.failure // others have the old one
	}
	delay := time.Duration(0)
	if f.Times++; f.Times > 1 {
		delay = min(firstBackoff<<min(f.Times-2, 20), kind.Backoff)
	}
	f.Next, f.Err = now.Add(delay), err
	ch.failure = &f
	crashed := ch.phase != starting
	ch.phase, ch.ran = failed, ch.ran || crashed
	switch {
	case k.ending != nil:
		k.answer(e, ErrEnded)
		k.remove(e)
		return
	case !crashed:
		k.answer(e, fmt.Errorf("the process has not started: %w", err))
	case delay > 0:
		k.answer(e, &f)
	}
	k.end(e)
	switch restarts := k.restarts(e); {
	case len(ch.waiting) > 0 || restarts && delay == 0:
		k.begin(e)
		return
	case !restarts:
		delay += kind.Backoff // until it is forgotten
	}
	ch.timer, _ = k.c.SendAfter(delay, k.pid, backoff[K]{e, &f})
}

// restarts reports whether e is started again without a use. What has never run is no process to keep.
func (k *keeper[K]) restarts(e *entry[K]) bool { return k.g.kind.Restart && e.change.ran }

// answer answers the waiters of e.
func (k *keeper[K]) answer(e *entry[K], err error) {
	for _, w := range e.change.waiting {
		w.Reply(outcome{err})
	}
	e.change.waiting = nil
}
