// Package pair is what the peers in Go share whose benches run in two OS processes with a
// TCP connection between them, on the loopback interface.
//
// [Between] makes such a bench of its two ends: the near one, which the bench is, and the far
// one, the same program again. [Calls] is the near end of a bench of calls.
//
//	goroutine   started by   ends
//	wait        Between      with the far end's OS process; the bench waits for it
//	caller      Calls        when its calls are answered, or one has failed; Calls waits
package pair
