package port

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// framed returns frames as they stand in a stream.
func framed(all ...[]byte) (b []byte) {
	for _, f := range all {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(f))), f...)
	}
	return b
}

func TestFrames(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), 300_000)
	all := [][]byte{[]byte("a"), large, bytes.Repeat([]byte("b"), step), bytes.Repeat([]byte("c"), step+1), []byte("d")}
	for _, r := range []io.Reader{
		bytes.NewReader(framed(all...)),
		iotest.HalfReader(bytes.NewReader(framed(all...))),
		iotest.DataErrReader(bytes.NewReader(framed(all...))),
	} {
		f := frames{r: r, limit: len(large)}
		for _, want := range all {
			b, err := f.next()
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, b))
		}
		_, err := f.next()
		require.Equal(t, io.EOF, err)
		require.LessOrEqual(t, cap(f.buf), keepCapacity, "a large buffer is kept")
	}
}

func TestFramesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":           {nil, io.EOF},
		"cut in the header": {[]byte{0, 0, 0}, io.EOF},
		"cut in the frame":  {[]byte{0, 0, 0, 2, 'a'}, io.EOF},
		"empty":             {[]byte{0, 0, 0, 0, 0, 0, 0, 1, 'a'}, errEmptyFrame},
		"too large":         {[]byte{0, 0, 0, 101}, &tooLarge{101, 100}},
		"4 GB":              {[]byte{255, 255, 255, 255}, &tooLarge{1<<32 - 1, 100}},
	} {
		_, err := (&frames{r: bytes.NewReader(c.b), limit: 100}).next()
		require.Equal(t, c.want, err, name)
	}
	whole := framed([]byte("0123456789"))
	for i := range whole {
		_, err := (&frames{r: bytes.NewReader(whole[:i]), limit: 100}).next()
		require.Equal(t, io.EOF, err, i)
	}
}

// A header that announces a large frame takes no memory until the frame arrives.
func TestFrameBomb(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := (&frames{r: bytes.NewReader([]byte{0x7f, 0xff, 0xff, 0xff, 1, 2, 3}), limit: maxFrame}).next()
	runtime.ReadMemStats(&after)
	require.Equal(t, io.EOF, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*step))
}
