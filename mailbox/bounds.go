package mailbox

import "github.com/actornode/actornode/wire"

// Policy defines what happens to a message when a bounded mailbox is full.
type Policy uint8

const (
	Refuse     Policy = iota // the sender gets an error
	Block                    // the sender waits
	DropNewest               // the message is lost, and counted
	DropOldest               // the oldest message that the reader has not popped yet is lost, and counted
)

// String returns the name of p.
func (p Policy) String() string {
	switch p {
	case Refuse:
		return "refuse"
	case Block:
		return "block"
	case DropNewest:
		return "drop newest"
	case DropOldest:
		return "drop oldest"
	}
	return "invalid"
}

// Bounds are those of a mailbox. The zero value means none. A bounded mailbox counts its waiting messages and those that the
// reader has popped but not finished. A message larger than Bytes is accepted when no other message counts: otherwise it
// could never be delivered.
type Bounds struct {
	Messages int // maximum number of messages; 0 means no limit
	Bytes    int // maximum number of bytes, as counted by Size; 0 means no limit
	Policy   Policy
	// Size returns a message's size in bytes. Default: the function Size.
	Size func(msg any) int
	// Dropped is called for each message that a Drop policy loses, on the pushing goroutine. to is the process whose mailbox
	// it is. It must be quick, and may send, but not wait. Default: nil.
	Dropped func(to wire.PID, msg any)
}
