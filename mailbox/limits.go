package mailbox

// Policy says what happens to a message when a bounded mailbox is full.
type Policy uint8

const (
	Refuse     Policy = iota // the sender gets an error
	Block                    // the sender waits
	DropNewest               // the message is lost, and counted
	DropOldest               // the oldest message that the reader has not seen yet is lost, and counted
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

// Limits bound a mailbox. The zero value bounds nothing. A mailbox within limits counts the
// messages that wait, and those that the reader has and is not done with. A message that is
// larger than Bytes gets in when no message counts: otherwise it never could.
type Limits struct {
	Messages int // at most this many messages; 0: any number
	Bytes    int // at most this many bytes, as Size counts them; 0: any number
	Policy   Policy
	// Size gives a message's size in bytes. Default: Size, the function.
	Size func(msg any) int
	// Dropped is called for each message that a Drop policy loses, by the
	// goroutine that pushes. Default: nothing.
	Dropped func(msg any)
}
