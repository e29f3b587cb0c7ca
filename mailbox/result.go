package mailbox

// Result is what a push answers; the duty that comes with it is the caller's.
type Result uint8

const (
	Queued  Result = iota // the message is in; the reader knows or will look
	Wake                  // the message is in and the caller must schedule the reader
	Full                  // not in: the mailbox is bounded and has no room
	Closed                // not in: the reader is gone
	Dropped               // not in: the mailbox is bounded, has no room, and loses the newest
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
