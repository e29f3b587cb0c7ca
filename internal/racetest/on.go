//go:build race

package racetest

// On reports whether the race detector is: it allocates memory of its own.
const On = true
