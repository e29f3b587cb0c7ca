package etfcodec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/actornode/actornode/internal/wire/fault"
)

// maxInflation is the maximum number of bytes that one deflated byte can represent: a greater length is invalid.
const maxInflation = 1032

const compressedHead = 1 + 1 + 4 // version, tag, length

// decodeCompressed reads a term that is compressed, from the version byte on.
func (d *Decoder) decodeCompressed(b []byte) (term any, rest []byte, err error) {
	limit := d.Limits.filled().Inflated
	if len(b) < compressedHead {
		return nil, b, faults.New(ErrCut, "offset 2: expected the length of a compressed term, but %d bytes are left", len(b)-2)
	}
	n := binary.BigEndian.Uint32(b[2:])
	packed := bytes.NewReader(b[compressedHead:])
	switch {
	case uint64(n) > uint64(limit):
		return nil, b, faults.New(ErrLimit, "offset 2: a term of %d bytes when inflated, at most %d are allowed", n, limit)
	case uint64(n) > maxInflation*uint64(packed.Len()):
		return nil, b, faults.New(ErrCut, "offset 2: %d bytes cannot inflate to %d", packed.Len(), n)
	}
	z, err := zlib.NewReader(packed)
	if err != nil {
		return nil, b, inflateFault(err)
	}
	var inflated bytes.Buffer
	got, err := inflated.ReadFrom(io.LimitReader(z, int64(n)+1)) // the extra byte makes it check the checksum
	switch {
	case err != nil:
		return nil, b, inflateFault(err)
	case got != int64(n):
		return nil, b, faults.New(ErrMalformed, "offset 2: the length is %d, but the bytes do not inflate to it", n)
	}
	term, rest, err = d.decode(inflated.Bytes(), 0)
	switch {
	case err != nil:
		if f, ok := err.(*fault.Fault); ok && f.Kind == ErrCut { // more bytes cannot help
			f.Kind = ErrMalformed
		}
		return nil, b, err
	case len(rest) > 0:
		return nil, b, faults.New(ErrMalformed, "offset %d: %d bytes behind the end of a compressed term", int(n)-len(rest), len(rest))
	}
	return term, b[len(b)-packed.Len():], nil
}

func inflateFault(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return faults.New(ErrCut, "offset %d: the compressed bytes are cut", compressedHead)
	}
	return faults.New(ErrMalformed, "offset %d: %v", compressedHead, err)
}

// AppendCompressed appends term like [Append], deflated at the given level of compress/zlib (-1 is its default) if that
// makes it shorter. It is term_to_binary(Term, [{compressed, Level}]); the bytes may differ from those that Erlang's zlib
// chooses.
func (e *Encoder) AppendCompressed(dst []byte, term any, level int) ([]byte, error) {
	from := len(dst)
	dst, err := e.Append(dst, term)
	if err != nil {
		return dst, err
	}
	plain := dst[from+1:]
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, level)
	if err != nil {
		return dst[:from], faults.New(err, "%v", err)
	}
	if _, err = z.Write(plain); err == nil {
		err = z.Close()
	}
	if err != nil || uint64(len(plain)) > maxLength || packed.Len()+compressedHead >= len(plain)+1 {
		return dst, nil
	}
	n := uint32(len(plain))
	dst = append(dst[:from], Version, tagCompressed)
	dst = binary.BigEndian.AppendUint32(dst, n)
	return append(dst, packed.Bytes()...), nil
}

// AppendCompressed is [Encoder.AppendCompressed] of the zero Encoder, at the
// default level.
func AppendCompressed(dst []byte, term any) ([]byte, error) {
	return new(Encoder).AppendCompressed(dst, term, zlib.DefaultCompression)
}
