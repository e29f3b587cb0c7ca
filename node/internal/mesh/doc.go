// Package mesh keeps a node connected to all nodes of a list, instead of only to those that
// somebody has used: a [Mesher] decides whom to connect to and when, and [Run] is its driver.
//
// Of two nodes the one with the smaller name connects, the other only if that has not
// happened within Config.Yield: each pair connects once. All attempts are spread by chance,
// over 5 ms for each node of the list, so that a node that is new to a thousand others is not
// connected to by all of them at once. After a failure the next attempt waits, up to Config.Backoff, and also where
// several connections in a row have not lasted that long: two nodes of one name would else take turns many times a second.
//
// The Mesher has no clock, socket, goroutine or lock: lists, times, chance and results go in,
// names come out. What it does with the same input is the same in each run. Run is one
// goroutine, started by whoever calls it, and it ends with its context; each attempt that it
// begins is one more, which ends when the attempt does, and is waited for by nobody in here.
//
// Of a node that is listed a Mesher keeps less than 200 bytes.
package mesh
