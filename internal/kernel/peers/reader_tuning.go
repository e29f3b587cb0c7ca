package peers

import "time"

// The tuning constants of the reader, each with its reason. None is a time measured on one machine.

const (
	// costly is how many times longer handling a message may take than reading it. Reading and handling could run in parallel at
	// the price of waking a worker and of moving each message to another core's cache, which costs about as much as reading it.
	costly = 2
	// mostPause bounds the cost of useless attempts: one batch in 64.
	mostPause = 64
	// weight is the inverse weight of the last batch in the average reading time.
	weight = 8
)

// mostDeferred is the maximum number of frames, or batches, whose answers are sent together; they are sent earlier if nothing
// else has arrived. The cost of the write system call per frame is then a thirtieth.
const mostDeferred = 32

// mostGathered is the maximum number of frames for several processes that the reader reads before it runs the processes.
// Their messages are sent together then: the cost of the write system call per frame is a thirtieth.
const mostGathered = 32

const (
	// maxSkip is the maximum number of messages after which a reader sleeps before it spins again. If spinning is never of use,
	// one message in 256 pays for it.
	maxSkip = 255

	// goschedAfter is how long a reader spins, on and off, before it calls the Go scheduler. If it never did, the scheduler
	// would preempt it as a goroutine that hogs its processor, after 10 ms, a constant of Go's, and its monitor would wake every
	// 20 us for a while. Each call wakes another thread, so it must be rare. This is half of Go's time, on every machine.
	goschedAfter = 5 * time.Millisecond
)

// DefaultReadTime is how long a reader spins by default. It is the default of a setting, not measured on one machine: the
// time of a round trip to another machine of a data centre. If messages arrive later than that the reader spins less and
// less.
const DefaultReadTime = 100 * time.Microsecond
