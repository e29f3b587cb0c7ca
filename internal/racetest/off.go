//go:build !race

// Package racetest tells tests that measure memory, or time by counts, whether the
// race detector is at work: then there is nothing to be measured.
package racetest

// On reports whether the race detector is: it allocates memory of its own.
const On = false
