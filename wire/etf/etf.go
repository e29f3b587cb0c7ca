package etf

import (
	"errors"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/fault"
)

// faults makes the errors of this package.
const faults fault.Package = "etf"

// What callers may want to tell apart. The error returned says more, and names
// the offset or the path; errors.Is finds these in it.
var (
	// ErrCut: the bytes end before the term does. More bytes may help.
	ErrCut = etfcodec.ErrCut
	// ErrMalformed: no term begins like these bytes, however they go on.
	ErrMalformed = etfcodec.ErrMalformed
	// ErrLimit: it may be a term, but one beyond the limits of the package.
	ErrLimit = etfcodec.ErrLimit
	// ErrNoTerm: a Go value that has no place in the format, or not this one.
	ErrNoTerm = etfcodec.ErrNoTerm
	// ErrMismatch: a term that does not fit the Go type it is to be stored in.
	ErrMismatch = errors.New("etf: the term does not fit the Go type")
)

// Append appends term, version byte first, as term_to_binary of OTP 26 and newer
// writes it, except for the order of a map's pairs. If it fails dst is returned
// as it was, and the error, which is [ErrNoTerm] or [ErrLimit], says where in the
// term: {2}[14]#{key} is the second element of a tuple, its 14th element, and the
// value of key in that.
func Append(dst []byte, term any) ([]byte, error) { return etfcodec.Append(dst, term) }

// Decode reads the term that b begins with, version byte first, compressed or not, as
// Erlang's binary_to_term does, and returns the bytes behind it. The term is of the types
// that package wire says a term comes in as, and shares no memory with b. The error is one
// of [ErrCut], [ErrMalformed] and [ErrLimit]; it names the offset in b, or in what b
// inflates to.
func Decode(b []byte) (term any, rest []byte, err error) { return etfcodec.Decode(b) }
