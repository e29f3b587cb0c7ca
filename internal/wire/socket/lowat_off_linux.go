//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin && actornode_no_lowat

package socket

const fewBytes = 1

func setRcvLowat(uintptr, int) bool { return false }
