package wire

// EncodeError says that a signal cannot be put on the wire: it holds a Go value
// that is no term, or is too large. The link goes on.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "wire: cannot encode: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }
