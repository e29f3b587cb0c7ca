// Package growth holds that what one operation costs does not grow with how many others there are.
//
// Each operation of its list is done n times, with n others of its kind there: n processes with names, n members of a
// group, n senders that wait. What all of them cost is divided by n, for a small n and for one ten times as large; the
// second may be so many times the first as the list says, twice by default, which allows for a
// logarithm and for memory that is doubled.
//
// There is no clock. What is counted is the bytes that are allocated; and, in the program of folder steps, which a test
// builds with the counters of Go's coverage, the steps: how often any block of this module's code, and of
// package slices, is entered. So a walk, a comparison, a wake-up and a copy by a loop count; a copy of memory by
// the runtime counts only where it takes new memory.
//
// A new operation of the API whose cost might depend on how many others there are joins the list.
package growth
