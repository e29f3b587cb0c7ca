package dist

// Budget is memory that several links share. Any goroutine may call it.
type Budget interface {
	// Take takes bytes and reports whether there are so many left.
	Take(bytes int) bool
	// Give gives bytes back that were taken.
	Give(bytes int)
}
