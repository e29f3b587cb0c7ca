package node

// IsAwaited reports whether somebody waits, or has waited, for f by one of its methods.
func IsAwaited[R any](f *Future[R]) bool { return f.w.HasSignal() }
