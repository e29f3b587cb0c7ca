package etf

import (
	"errors"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/fault"
)

// faults makes the errors of this package.
const faults fault.Package = "etf"

// Errors that callers can test for with errors.Is. The returned error has more details, and the offset or the path.
var (
	// ErrCut means that the bytes end before the term does. More bytes may help.
	ErrCut = etfcodec.ErrCut
	// ErrMalformed means that no term begins with these bytes.
	ErrMalformed = etfcodec.ErrMalformed
	// ErrLimit means that the term exceeds the limits of the package.
	ErrLimit = etfcodec.ErrLimit
	// ErrNoTerm means that a Go value cannot be represented in the format.
	ErrNoTerm = etfcodec.ErrNoTerm
	// ErrMismatch means that a term does not fit the Go type of its destination.
	ErrMismatch = errors.New("etf: the term does not fit the Go type")
)

// Append appends term, version byte first, like term_to_binary of OTP 26 and newer, except for the order of a map's pairs.
// On failure it returns dst unchanged, and an error, [ErrNoTerm] or [ErrLimit], with the path in the term: {2}[14]#{key} is
// the second element of a tuple, the 14th element of that, and the value of key in that.
func Append(dst []byte, term any) ([]byte, error) { return etfcodec.Append(dst, term) }

// Decode reads the term at the beginning of b, version byte first, compressed or not, like Erlang's binary_to_term, and
// returns the bytes after it. The term has the types that package wire defines for decoders, and shares no memory with b.
// The error is [ErrCut], [ErrMalformed] or [ErrLimit]; it has the offset in b, or in the uncompressed data of b.
func Decode(b []byte) (term any, rest []byte, err error) { return etfcodec.Decode(b) }
