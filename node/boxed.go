package node

import (
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
)

// intake is where the messages of a process wait: a type for each kind of mailbox.
//
// What every message passes does not call it: there proc.boxed is looked at in place.
type intake interface {
	// signal puts in a message that a signal has become: past the bound, if there is one, for
	// nobody waits or is told if a signal is lost.
	signal(a *acting, msg any)
	// try puts in the message of a sender that must not be held up.
	try(n *inbox.Node)
	// arm has whoever puts in the next message wake the process; false: there is one already.
	// For whoever owns the queue.
	arm() bool
	// len returns how many messages wait, the one that an Actor handles included. One that is
	// being handed to a process on a goroutine of its own, which waits for it, may not be among
	// them for that moment. Anybody may ask.
	len() int
	// close has nothing put in any more. It reports whether the inbox was armed.
	close() bool
}

// intake returns p as where its messages wait.
func (p *proc) intake() intake {
	if p.boxed {
		return (*userMailbox)(p)
	}
	return (*ownMailbox)(p)
}

// ownMailbox is the mailbox of most processes: an inbox, and the queue of what has been taken
// from it.
type ownMailbox proc

// signal is part of intake.
func (m *ownMailbox) signal(a *acting, msg any) { (*proc)(m).deliver(a, msg) }

// try is part of intake.
func (m *ownMailbox) try(n *inbox.Node) { (*proc)(m).push(&m.node.acting, n) }

// arm is part of intake.
func (m *ownMailbox) arm() bool { return m.in.Arm() }

// len is part of intake.
func (m *ownMailbox) len() int { return m.in.Waiting(&m.q) }

// close is part of intake.
func (m *ownMailbox) close() bool { return m.in.Close() }

// userMailbox is the mailbox of a process that was spawned with Limits, or with a Mailbox: a
// [mailbox.Box]. The queue has the message in hand, and those that were left. The inbox is
// empty; on a stage it says whether the process is being woken.
type userMailbox proc

// deliver puts msg in. That the message is dropped, or the process dead, is no error.
func (m *userMailbox) deliver(a *acting, msg any, u *patience) error {
	err := (*proc)(m).offer(a, msg, u)
	if err == ErrDropped || err == ErrNoProcess {
		return nil
	}
	return err
}

// signal is part of intake.
func (m *userMailbox) signal(a *acting, msg any) {
	r := mailbox.Full
	if f, ok := m.cold.box.(mailbox.Forcer); ok {
		r = f.Force(msg)
	} else {
		r = m.cold.box.Push(msg)
	}
	m.pushed(a, r, msg)
}

// try is part of intake.
func (m *userMailbox) try(n *inbox.Node) { m.pushed(&m.node.acting, m.cold.box.Push(n.Msg), n.Msg) }

// pushed does what is due after msg was pushed into the box, where nobody waits.
func (m *userMailbox) pushed(a *acting, r mailbox.Result, msg any) {
	p := (*proc)(m)
	switch r {
	case mailbox.Wake:
		p.runner().prod(a)
	case mailbox.Full:
		p.node.deadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.pid(), Message: msg})
		unanswered(msg, ErrMailboxFull)
	case mailbox.Closed:
		p.node.undeliverable(p.pid(), msg)
	}
}

// refill takes a message into the queue.
func (m *userMailbox) refill() bool {
	msg, ok := m.cold.box.Pop()
	if ok {
		m.q.Append(&inbox.Node{Msg: msg})
	}
	return ok
}

// arm is part of intake. A box has armed itself when it had nothing.
func (m *userMailbox) arm() bool { return true }

// len is part of intake.
func (m *userMailbox) len() int { return m.cold.box.Len() }

// close is part of intake.
func (m *userMailbox) close() bool {
	m.cold.box.Close()
	return m.in.Close()
}

// holdsUp reports whether the mailbox makes senders wait for room.
func (m *userMailbox) holdsUp() bool {
	b, ok := m.cold.box.(mailbox.Waiter)
	return ok && b.Blocks()
}
