package dist

// Budget is an amount of memory that several links share. Any goroutine may call its methods.
type Budget interface {
	// Take reserves bytes and reports whether that many were left.
	Take(bytes int) bool
	// Give returns bytes that were taken.
	Give(bytes int)
}
