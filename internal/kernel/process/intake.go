package process

import (
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
)

// Intake is where the messages of a process wait: a type for each kind of mailbox.
//
// What every message passes does not call it: there Process.Boxed is looked at in place.
type Intake interface {
	// signal puts in a message that a signal has become: past the bound, if there is one, for
	// nobody waits or is told if a signal is lost.
	signal(a *Acting, msg any)
	// Try puts in the message of a sender that must not be held up.
	Try(n *inbox.Node)
	// Arm has whoever puts in the next message wake the process; false: there is one already.
	// For whoever owns the queue.
	Arm() bool
	// Len returns how many messages wait, the one that an Actor handles included. One that is
	// being handed to a process on a goroutine of its own, which waits for it, may not be among
	// them for that moment. Anybody may ask.
	Len() int
	// close has nothing put in any more. It reports whether the inbox was armed.
	close() bool
}

// Intake returns p as where its messages wait.
func (p *Process) Intake() Intake {
	if p.Boxed {
		return (*UserMailbox)(p)
	}
	return (*ownMailbox)(p)
}

// Behind reports whether messages wait behind the one that p, an Actor, handles. For its handler.
func (p *Process) Behind() bool {
	if p.Boxed {
		return p.Cold.Box.Len() > 1
	}
	return p.Inbox.Behind(&p.Queue)
}

// ownMailbox is the mailbox of most processes: an inbox, and the queue of what has been taken
// from it.
type ownMailbox Process

// signal is part of Intake.
func (m *ownMailbox) signal(a *Acting, msg any) { (*Process)(m).Deliver(a, msg) }

// Try is part of Intake.
func (m *ownMailbox) Try(n *inbox.Node) { (*Process)(m).Push(&m.System.Plain, n) }

// Arm is part of Intake.
func (m *ownMailbox) Arm() bool { return m.Inbox.Arm() }

// Len is part of Intake.
func (m *ownMailbox) Len() int { return m.Inbox.Waiting(&m.Queue) }

// close is part of Intake.
func (m *ownMailbox) close() bool { return m.Inbox.Close() }

// UserMailbox is the mailbox of a process that was spawned with Limits, or with a Mailbox: a
// [mailbox.Box]. The queue has the message in hand, and those that were left. The inbox is
// empty; on a stage it says whether the process is being woken.
type UserMailbox Process

// Deliver puts msg in. That the message is dropped, or the process dead, is no error.
func (m *UserMailbox) Deliver(a *Acting, msg any, u *Patience) error {
	err := (*Process)(m).Offer(a, msg, u)
	if err == ErrDropped || err == ErrNoProcess {
		return nil
	}
	return err
}

// signal is part of Intake.
func (m *UserMailbox) signal(a *Acting, msg any) {
	r := mailbox.Full
	if f, ok := m.Cold.Box.(mailbox.Forcer); ok {
		r = f.Force(msg)
	} else {
		r = m.Cold.Box.Push(msg)
	}
	m.pushed(a, r, msg)
}

// Try is part of Intake.
func (m *UserMailbox) Try(n *inbox.Node) { m.pushed(&m.System.Plain, m.Cold.Box.Push(n.Msg), n.Msg) }

// pushed does what is due after msg was pushed into the box, where nobody waits.
func (m *UserMailbox) pushed(a *Acting, r mailbox.Result, msg any) {
	p := (*Process)(m)
	switch r {
	case mailbox.Wake:
		p.Runner().Prod(a)
	case mailbox.Full:
		p.System.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.PID(), Message: msg})
		p.System.Host.Unanswered(msg, ErrMailboxFull, false)
	case mailbox.Closed:
		p.System.Undeliverable(p.PID(), msg)
	}
}

// refill takes a message into the queue.
func (m *UserMailbox) refill() bool {
	msg, ok := m.Cold.Box.Pop()
	if ok {
		m.Queue.Append(&inbox.Node{Msg: msg})
	}
	return ok
}

// Arm is part of Intake. A box has armed itself when it had nothing.
func (m *UserMailbox) Arm() bool { return true }

// Len is part of Intake.
func (m *UserMailbox) Len() int { return m.Cold.Box.Len() }

// close is part of Intake.
func (m *UserMailbox) close() bool {
	m.Cold.Box.Close()
	return m.Inbox.Close()
}

// holdsUp reports whether the mailbox makes senders wait for space.
func (m *UserMailbox) holdsUp() bool {
	b, ok := m.Cold.Box.(mailbox.Waiter)
	return ok && b.Blocks()
}
