package node

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/internal/feed"
)

// Cause says why a message became a dead letter.
type Cause uint8

const (
	CauseNoProcess      Cause = iota // the process is gone, or the name is nobody's
	CauseOldIncarnation              // the PID is from an earlier life of this node
	CauseMailboxFull                 // a bounded mailbox had no room
	CauseNodeStopped                 // the node has been stopped
	CauseNotConnected                // the PID is another node's
	CauseNoAlias                     // the alias is not active
	CauseLateReply                   // the caller has stopped waiting, or has its reply
	CauseNotATerm                    // it cannot be sent to another node: it holds what is no term
	causes
)

// Causes returns all causes that there are.
func Causes() []Cause {
	all := make([]Cause, causes)
	for c := range causes {
		all[c] = c
	}
	return all
}

// String returns the name of c, as metrics and logs show it.
func (c Cause) String() string {
	switch c {
	case CauseNoProcess:
		return "no_process"
	case CauseOldIncarnation:
		return "old_incarnation"
	case CauseMailboxFull:
		return "mailbox_full"
	case CauseNodeStopped:
		return "node_stopped"
	case CauseNotConnected:
		return "not_connected"
	case CauseNoAlias:
		return "no_alias"
	case CauseLateReply:
		return "late_reply"
	case CauseNotATerm:
		return "not_a_term"
	}
	return "invalid"
}

// DeadLetter is a message that could not be delivered. Of To, Name and Alias one
// says whom it was for.
type DeadLetter struct {
	Cause   Cause
	To      PID
	Name    Atom
	Alias   Ref
	Message any
	At      time.Time
}

// deadLetterLog is how often dead letters of one cause are logged: the first,
// and then one in this time with the number of those that were not.
const deadLetterLog = time.Second

// deadLetters counts them all, logs some, and shows them to whoever looks on.
type deadLetters struct {
	log    *slog.Logger
	env    env.Env
	counts [causes]atomic.Uint64
	lines  [causes]feed.Throttle
	hub    feed.Hub[DeadLetter]
}

func (d *deadLetters) add(l DeadLetter) {
	d.counts[l.Cause].Add(1)
	l.Message = bare(l.Message)
	l.At = d.env.Now()
	d.hub.Send(l)
	if not, due := d.lines[l.Cause].Due(l.At, deadLetterLog); due {
		d.write(l, not) // unlocked: a log handler may send, too
	}
}

// write logs a line for l. not is how many like it were not logged.
func (d *deadLetters) write(l DeadLetter, not uint64) {
	attrs := []any{"cause", l.Cause.String(), "message_type", typeName(l.Message)}
	switch {
	case l.Name != "":
		attrs = append(attrs, "to", string(l.Name))
	case !l.Alias.IsZero():
		attrs = append(attrs, "to", l.Alias.String())
	default:
		attrs = append(attrs, "to", l.To.String())
	}
	d.log.Warn("dead letter", append(attrs, "not_logged", not)...)
}

// DeadLetterStream is a view of the dead letters from the time it was opened.
type DeadLetterStream struct {
	C    <-chan DeadLetter // closed by Close and by the node's stop
	d    *deadLetters
	feed *feed.Feed[DeadLetter]
}

// Missed returns how many dead letters did not fit into the stream's buffer.
func (s *DeadLetterStream) Missed() uint64 { return s.feed.Missed() }

// Close ends the stream.
func (s *DeadLetterStream) Close() { s.d.hub.Drop(s.feed) }

// DeadLetters opens a stream of the dead letters to come, which holds up to
// buffer of them (at least 1) for its reader; what does not fit is counted.
func (n *Node) DeadLetters(buffer int) *DeadLetterStream {
	f := n.dead.hub.Open(max(1, buffer))
	return &DeadLetterStream{C: f.C(), d: &n.dead, feed: f}
}

// DeadLetterCounts returns how many messages have become dead letters, by cause.
func (n *Node) DeadLetterCounts() map[Cause]uint64 {
	m := make(map[Cause]uint64)
	for c := range causes {
		if k := n.dead.counts[c].Load(); k > 0 {
			m[c] = k
		}
	}
	return m
}

// undeliverable makes a dead letter of a message to a PID that nobody has here.
// The error is nil unless the node has been stopped or the PID is another
// node's: a message to the dead is lost without an error, as in Erlang.
func (n *Node) undeliverable(to PID, msg any) error {
	l := DeadLetter{Cause: CauseNoProcess, To: to, Message: msg}
	var err error
	switch id := to.Origin().NodeID(); {
	case n.stopped.Load():
		l.Cause, err = CauseNodeStopped, ErrNodeStopped
	case to.IsZero() || n.origin.Minted(to):
	case id.Name == n.cfg.Name:
		l.Cause = CauseOldIncarnation
	default:
		l.Cause, err = CauseNotConnected, ErrNotHere
	}
	n.dead.add(l)
	return err
}
