package flow

import "time"

// The constants of this package that were chosen, each with its reason. But for drainTime,
// which is for people, none is a time: what depends on the machine is measured at run time.

const (
	// mostInTurn is how many messages of one turn wait for its end: a turn that sends more
	// has the writer send beside it. By then the cost of waking the writer is a sixteenth
	// for each message, and the first have waited long enough.
	mostInTurn = 16
	// longTurn is how many times longer than the sending at its end a turn takes, from its
	// first message on, whose messages should not have waited. Both are measured at run
	// time. For atOnce turns more on that worker the writer is woken at once; so of turns
	// that all take long one in 64 makes its messages wait.
	longTurn = 8
	atOnce   = 64
)

// A sender may have 1/behindShare of the limit waiting behind a long message of its own; when
// all senders together have behindSum times the limit, nothing more. An eighth lets eight
// senders of long messages fill the limit, and not one alone; four times the limit bounds the
// memory when there are many of them.
const (
	behindShare = 8
	behindSum   = 4
)

// keptFrames is how long a slice is kept for the next batch: of a frame's 200 bytes or so less
// than 1 MiB for each peer.
const keptFrames = 4096

// flushAt is how many bytes are written at once, at least: by then one call of the system is
// a small part of what copying the bytes costs.
const flushAt = 64 << 10

// A message of more parts than plainParts, or of more text and binaries than plainBytes, is encoded before it
// waits, to see whether that works; of a smaller one a look may do, which takes a fifth of the time. The look
// at a large message that is not plain would be wasted. A limit of messages below plainBytes the writer finds.
const (
	plainParts = 64
	plainBytes = 32 << 10
)

// drainTime is for how long a peer may still be read from that takes nothing more: what it
// has said before it went. It is as long as people wait for, and no measure of a machine: a peer
// that is gone has closed the connection long before.
const drainTime = time.Second

// maxReason is how many characters a reason has at most that stands for one which
// cannot be sent: enough for people to see what it was.
const maxReason = 1000
