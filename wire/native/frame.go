package native

import (
	"errors"

	"github.com/actornode/actornode/wire/dist"
)

// A frame is its length in bytes, in 16 bits, followed by its bytes; an empty frame is a tick. The low bits of the first
// byte are its kind: a [dist.Op], or one of these.
const (
	opAck  = 0  // how much of the session has been received
	opPart = 14 // a part of a long message
	opBye  = 15 // why the link ends

	opMask     = 15
	bitExtras  = 0x10 // of an op: extras follow the fields
	bitPacked  = 0x20 // the rest of the frame is compressed with zstd
	bitParts   = 0x40 // of an op: the payload follows in parts
	bitUnknown = 0x80
)

// Bits of the extras, with their data, in this order.
const (
	extraUrgent  = 1 << iota // nothing
	extraID                  // an integer
	extraToken               // a term
	extraRequest             // a reference: the payload is the body of a request
	extraReply               // nothing: the payload is the value of a reply
	extraWait                // an integer, of a request: how long the caller waits for the reply, in ms

	extraSigns = extraUrgent | extraID | extraToken
	extraCalls = extraRequest | extraReply // used between nodes with flagRequests
)

// Bits of the integer in a spawn reply.
const (
	spawnLinked = 1 << iota
	spawnWatched
)

const (
	sizeBytes = 2
	maxFrame  = 1<<16 - 1
	// partSize is the maximum size of the part of a long message in one frame. A message that does not fit into one frame
	// is long.
	partSize = 63 << 10
	// maxStreams is the maximum number of concurrent messages in parts, regardless of dist.LinkLimits.
	maxStreams = 64
	// sendStreams is the maximum number of streams that this side sends concurrently.
	sendStreams = 16
)

// payloads are the ops that carry a term.
var payloads = [16]bool{dist.OpSend: true, dist.OpExit: true, dist.OpSignal: true, dist.OpDown: true, dist.OpSpawn: true,
	dist.OpSpawnReply: true, dist.OpReceipt: true}

var errCut = errors.New("an incomplete frame")
