//go:build !linux

package wire

func unsent(uintptr) int { return 0 }
