//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_fiber

package fiber

// TraceSaysLocked is the slow form of Locked.
func TraceSaysLocked() bool { return traceSaysLocked() }

// KnowsLocked reports whether Locked is quick.
func KnowsLocked() bool { return lockedWord() != nil }
