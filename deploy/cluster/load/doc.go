// Load sends calls and messages to the echo servers of some nodes at a fixed pace, checks all answers, and reports its
// observations over HTTP. The tests of package cluster run it in a separate container.
//
// # Nouns
//
//   - A target is a node that receives calls and messages.
//   - A sender is an actor that sends numbered messages to one target, and checks the numbers in the answers.
//   - A caller makes the calls to one target: each has a number, and must be answered with it. A failed call is retried on
//     the next node, five times in all, like a client with several servers.
//   - A report has all observations since the last one was taken: GET /take.
//
// # What is checked
//
// The echo server sends each message back. For each pair of a sender and its target:
//
//  1. No number arrives twice, and none after a greater one.
//  2. A missing number was sent while its target was not connected, or the connection has ended since. Otherwise it counts
//     as lost without a cause.
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
// A caller has at most 4,000 calls in progress; calls beyond that count as withheld. A sender remembers its last 65,536
// numbers. A report has at most 100 violations and 200 changes of connections.
package main
