package peers

import "time"

// The constants of this package that were chosen, each with its reason. None is a time that was
// measured on one machine.

const (
	// costly is how many times longer than reading a message handling it may take. Reading and
	// handling could go on side by side at the price of waking a worker and of moving each
	// message to another core's cache, which costs about as much as reading it.
	costly = 2
	// mostPause bounds what a try costs that is of no use: one batch in 64.
	mostPause = 64
	// weight is the part that the last batch has in the time of reading.
	weight = 8
)

// mostDeferred is after how many frames, or batches, their answers are sent, at the latest,
// together; before, when nothing else has come. The call of the system that sends them is a
// thirtieth of each then.
const mostDeferred = 32

// mostGathered is how many frames for several processes the reader reads, at most, before it runs
// what they set off. What runs sends together then: the call of the system that sends it is a
// thirtieth of each.
const mostGathered = 32

const (
	// maxSkip is how many messages a reader sleeps after, at most, before it spins again. So
	// where it is never of use it costs one message in 256 the time that it takes.
	maxSkip = 255

	// goschedAfter is for how long a reader spins now and again before it lets the Go
	// scheduler in. One that never did would be taken for a goroutine that hogs its processor:
	// after 10 ms, a constant of Go's, its monitor takes that away, and looks every 20 us for a
	// while. Each time another thread is woken, so not too often. This is half of Go's time, on
	// every machine.
	goschedAfter = 5 * time.Millisecond
)

// DefaultReadTime is for how long a reader spins if nothing else is asked. It is a default of a
// setting, and not measured on one machine: it is what a message takes to the next machine of
// a data centre and back. Where messages come later than that the reader spins less and less.
const DefaultReadTime = 100 * time.Microsecond
