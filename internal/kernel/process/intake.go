package process

import (
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
)

// Intake holds the queued messages of a process: a type for each kind of mailbox.
//
// The paths that every message takes do not call it: they check Process.Boxed directly.
type Intake interface {
	// signal adds a message made from a signal: past the bound, if there is one, because nobody waits or is notified if a signal
	// is lost.
	signal(a *Acting, msg any)
	// Try adds the message of a sender that must not block.
	Try(n *inbox.Node)
	// Arm requests that the next message wakes the process. It returns false if there is a message already. Only the owner of
	// the queue may call it.
	Arm() bool
	// Len returns the number of queued messages, including the one that an Actor handles. A message that is being handed to a
	// waiting process with a goroutine of its own may be missing for that moment. It may be called concurrently.
	Len() int
	// close rejects further messages. It reports whether the inbox was armed.
	close() bool
}

// Intake returns the Intake of p.
func (p *Process) Intake() Intake {
	if p.Boxed {
		return (*UserMailbox)(p)
	}
	return (*ownMailbox)(p)
}

// Behind reports whether messages are queued after the one that p, an Actor, handles. For its handler.
func (p *Process) Behind() bool {
	if p.Boxed {
		return p.Cold.Box.Len() > 1
	}
	return p.Inbox.Behind(&p.Queue)
}

// ownMailbox is the mailbox of most processes: an inbox, and the queue of messages taken from it.
type ownMailbox Process

// signal implements Intake.
func (m *ownMailbox) signal(a *Acting, msg any) { (*Process)(m).Deliver(a, msg) }

// Try implements Intake.
func (m *ownMailbox) Try(n *inbox.Node) { (*Process)(m).Push(&m.System.Plain, n) }

// Arm implements Intake.
func (m *ownMailbox) Arm() bool { return m.Inbox.Arm() }

// Len implements Intake.
func (m *ownMailbox) Len() int { return m.Inbox.Waiting(&m.Queue) }

// close implements Intake.
func (m *ownMailbox) close() bool { return m.Inbox.Close() }

// UserMailbox is the mailbox of a process that was spawned with Limits, or with a Mailbox: a [mailbox.Box]. The queue holds
// the current message, and those left unhandled. The inbox is empty; on a stage it records whether the process is being
// woken.
type UserMailbox Process

// Deliver adds msg. It is no error if the message is dropped, or the process is dead.
func (m *UserMailbox) Deliver(a *Acting, msg any, u *Patience) error {
	err := (*Process)(m).Offer(a, msg, u)
	if err == ErrDropped || err == ErrNoProcess {
		return nil
	}
	return err
}

// signal implements Intake.
func (m *UserMailbox) signal(a *Acting, msg any) {
	r := mailbox.Full
	if f, ok := m.Cold.Box.(mailbox.Forcer); ok {
		r = f.Force(msg)
	} else {
		r = m.Cold.Box.Push(msg)
	}
	m.pushed(a, r, msg)
}

// Try implements Intake.
func (m *UserMailbox) Try(n *inbox.Node) { m.pushed(&m.System.Plain, m.Cold.Box.Push(n.Msg), n.Msg) }

// pushed handles the result of pushing msg into the box, for a sender that does not wait.
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

// refill moves a message into the queue.
func (m *UserMailbox) refill() bool {
	msg, ok := m.Cold.Box.Pop()
	if ok {
		m.Queue.Append(&inbox.Node{Msg: msg})
	}
	return ok
}

// Arm implements Intake. A box arms itself when it is empty.
func (m *UserMailbox) Arm() bool { return true }

// Len implements Intake.
func (m *UserMailbox) Len() int { return m.Cold.Box.Len() }

// close implements Intake.
func (m *UserMailbox) close() bool {
	m.Cold.Box.Close()
	return m.Inbox.Close()
}

// holdsUp reports whether the mailbox makes senders wait for space.
func (m *UserMailbox) holdsUp() bool {
	b, ok := m.Cold.Box.(mailbox.Waiter)
	return ok && b.Blocks()
}
