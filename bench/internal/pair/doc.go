// Package pair is shared by the Go peers whose benches run in two OS processes connected by TCP on the loopback interface.
//
// [Between] makes such a bench from its two ends: the near one, which is the bench itself, and the far one, a second
// process of the program. [Calls] is the near end of a bench of calls.
//
//	goroutine   started by   ends
//	wait        Between      with the far end's OS process; the bench waits for it
//	caller      Calls        when its calls are answered, or one has failed; Calls waits
package pair
