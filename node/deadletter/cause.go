package deadletter

// Cause says why a message became a dead letter.
type Cause uint8

const (
	NoProcess      Cause = iota // the process is gone, or the name is nobody's
	OldIncarnation              // the PID is from an earlier life of this node
	MailboxFull                 // a bounded mailbox had no room
	NodeStopped                 // the node has been stopped
	NotConnected                // it is for another node, and there is no connection: see Letter.Why
	NoAlias                     // the alias is not active
	LateReply                   // the caller has stopped waiting, or has its reply
	NotATerm                    // it cannot be sent to another node: it holds what is no term
	Unreadable                  // another node has sent it, and it cannot be taken: Letter.Message is an error that says why
	WrongType                   // it came by the reference of a typed channel, and is not of that type
)

// names are those of the causes, as metrics and logs show them.
var names = [...]string{"no_process", "old_incarnation", "mailbox_full", "node_stopped", "not_connected", "no_alias",
	"late_reply", "not_a_term", "unreadable", "wrong_type"}

// Causes returns all causes that there are.
func Causes() []Cause {
	all := make([]Cause, len(names))
	for c := range all {
		all[c] = Cause(c)
	}
	return all
}

// String returns the name of c, as metrics and logs show it.
func (c Cause) String() string {
	if int(c) < len(names) {
		return names[c]
	}
	return "invalid"
}
