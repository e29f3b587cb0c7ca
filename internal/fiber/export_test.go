package fiber

// TraceSaysLocked is the slow way of Locked.
func TraceSaysLocked() bool { return traceSaysLocked() }
