package mailbox

// Result is the outcome of a push, with the caller's obligation.
type Result uint8

const (
	Queued  Result = iota // the message was added; the reader is already awake
	Wake                  // the message was added, and the caller must schedule the reader
	Full                  // not added: the bounded mailbox is full
	Closed                // not added: the reader is gone
	Dropped               // lost: the bounded mailbox is full
)

// String returns the name of r.
func (r Result) String() string {
	switch r {
	case Queued:
		return "queued"
	case Wake:
		return "wake"
	case Full:
		return "full"
	case Closed:
		return "closed"
	case Dropped:
		return "dropped"
	}
	return "invalid"
}
