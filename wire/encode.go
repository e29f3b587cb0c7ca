package wire

// EncodeError reports that a signal cannot be encoded: it contains a Go value that is not a term, or is too large. The link
// stays usable.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "wire: cannot encode: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }
