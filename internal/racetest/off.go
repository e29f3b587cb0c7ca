//go:build !race

// Package racetest reports to tests that measure memory, or time by counts, whether the
// race detector is on: then they cannot measure.
package racetest

// On reports whether the race detector is on: it allocates memory itself.
const On = false
