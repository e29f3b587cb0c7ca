//go:build race

package testkit

// Race reports whether the race detector is on: it allocates memory itself.
const Race = true
