package flow

import "time"

// The tuning constants of this package, each with its reason. Except drainTime, which is for people, none is a time: what
// depends on the machine is measured at run time.

const (
	// mostInTurn is the maximum number of messages of one turn that wait for its end: if a turn sends more, the writer sends
	// them in parallel. By then the cost of waking the writer is a sixteenth per message, and the first have waited long enough.
	mostInTurn = 16
	// longTurn is how many times longer than the flush at its end a turn takes, from its first message on, if its messages
	// should not have waited. Both are measured at run time. For the next atOnce turns on that worker the writer is woken at
	// once; so if all turns take long, one in 64 makes its messages wait.
	longTurn = 8
	atOnce   = 64
)

// A sender may have 1/behindShare of the limit queued behind a long message of its own; once all senders together have
// behindSum times the limit, nothing more. An eighth lets eight senders of long messages, but not a single one, fill the
// limit; four times the limit bounds the memory if there are many of them.
const (
	behindShare = 8
	behindSum   = 4
)

// keptFrames is the capacity up to which a slice is kept for the next batch: at about 200 bytes per frame less than 1 MiB per
// peer.
const keptFrames = 4096

// flushAt is the minimum number of bytes written at once: by then the cost of a system call is small compared with copying
// the bytes.
const flushAt = 64 << 10

// A message of more parts than plainParts, or of more text and binaries than plainBytes, is encoded before it is queued, to
// see whether that works; for a smaller one a check may suffice, which takes a fifth of the time. Checking a large message
// that is not plain would be wasted. The writer detects violations of message limits below plainBytes.
const (
	plainParts = 64
	plainBytes = 32 << 10
)

// drainTime is how long a peer that accepts nothing more may still be read from: what it sent before it ended. It is as long
// as people wait, and does not depend on the machine: a peer that has gone closed the connection long before.
const drainTime = time.Second

// maxReason is the maximum number of characters of a reason that replaces one which cannot be sent: enough for people to
// recognize it.
const maxReason = 1000
