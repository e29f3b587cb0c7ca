// Load calls and sends to the servers echo of some nodes at a fixed pace, checks all that comes back, and tells
// what it has seen by HTTP. It is for the tests of package cluster, in a container of its own.
//
// # Nouns
//
//   - A target is a node that is called and sent to.
//   - A sender is an actor that sends numbered messages to one target, and checks the numbers that come back.
//   - A caller makes the calls of one target: each has a number, and must be answered with it. A call that fails is made again on
//     the next node, five times in all, as a client with several servers does.
//   - A report is all that was seen since the last one was taken: GET /take.
//
// # What is checked
//
// The server echo sends each message back, so a number has been to its target and returned. For each pair of a
// sender and its target:
//
//  1. No number comes twice, and none after a greater one.
//  2. A number that is missing was sent when its target was not connected, or the connection has ended since. Else it
//     counts as lost without a cause.
//
// # Goroutines
//
//	name          started by   ended by                owns
//	caller.run    main         the end of the process  its pace
//	a call        caller.run   its answer, its timeout nothing
//	HTTP          main         the end of the process  nothing
//
// # Limits
//
// A caller has at most 4,000 calls under way; what it cannot ask counts as withheld. A sender remembers its last 65,536
// numbers. A report has at most 100 violations and 200 changes of connections.
package main
