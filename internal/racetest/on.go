//go:build race

package racetest

// On reports whether the race detector is on: it allocates memory itself.
const On = true
