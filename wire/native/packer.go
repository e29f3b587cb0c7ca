package native

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer compresses the data of one frame. All packers share one encoder.
type packer struct{ scratch []byte }

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(64<<10), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // cannot happen with these options
	}
	return e
})

// pack returns b compressed, valid until the next call, or nil if that is not shorter.
func (p *packer) pack(b []byte) []byte {
	p.scratch = encoder().EncodeAll(b, p.scratch[:0])
	if len(p.scratch) >= len(b) {
		return nil
	}
	return p.scratch
}

// packAll is pack for n bytes in pieces.
func (p *packer) packAll(pieces [][]byte, n int) []byte {
	if len(pieces) == 1 {
		return p.pack(pieces[0])
	}
	return p.pack(bytes.Join(pieces, nil)[:n])
}

// unpacker decompresses the data of one peer. It belongs to the reading goroutine.
type unpacker struct {
	dec *zstd.Decoder
	buf []byte
}

// unpack returns b decompressed, valid until the next call: at most maxFrame bytes.
func (u *unpacker) unpack(b []byte) ([]byte, error) {
	if u.dec == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxFrame))
		if err != nil {
			return nil, err
		}
		u.dec = d
	}
	var err error
	u.buf, err = u.dec.DecodeAll(b, u.buf[:0])
	return u.buf, err
}
