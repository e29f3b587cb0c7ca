// Package growth tests that the cost of an operation does not grow with the number of others.
//
// Each operation of its list runs n times, with n others of its kind present: n processes with names, n members of a group,
// n waiting senders. The total cost is divided by n, for a small n and for one ten times as large. The list bounds the
// ratio of the second to the first, to 2 by default, which allows for a logarithm and for memory that grows by doubling.
//
// It uses no clock. It counts allocated bytes and, in the program of directory steps, which a test builds with the counters
// of Go's coverage, steps: how often any block of code in this module and in package slices is entered. So a walk, a
// comparison, a wake-up and a copy by a loop count; a copy of memory by the runtime counts only if it allocates memory.
//
// Add every new operation of the API whose cost might depend on the number of others to the list.
package growth
