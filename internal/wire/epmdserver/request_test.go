package epmdserver

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sampleRegistration = Registration{
	Name: "cart", Port: 0x1234, Type: Visible, Highest: 6, Lowest: 5, Extra: []byte{0, 255},
}

const sampleRegistrationBytes = "\x12\x34M\x00\x00\x06\x00\x05\x00\x04cart\x00\x02\x00\xff"

func TestRequestsAreLaidOutAsDocumented(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Op: OpNames}, "\x00\x01n"},
		{Request{Op: OpDump}, "\x00\x01d"},
		{Request{Op: OpKill}, "\x00\x01k"},
		{Request{Op: OpPort, Name: "cart"}, "\x00\x05zcart"},
		{Request{Op: OpStop, Name: "cart"}, "\x00\x05scart"},
		{Request{Op: OpAlive, Registration: sampleRegistration}, "\x00\x13x" + sampleRegistrationBytes},
	} {
		b, err := c.r.Append(nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(b), c.r.Op)
		r, err := ParseRequest(b[2:])
		require.NoError(t, err)
		assert.Equal(t, c.r, r)
	}
	_, err := Request{Op: OpAlive, Registration: Registration{Extra: make([]byte, 65535)}}.Append(nil)
	require.ErrorIs(t, err, ErrTooLong)
	b, err := Request{Op: OpAlive, Registration: Registration{Name: "n", Extra: make([]byte, 65535-1-Fixed-1)}}.Append(nil)
	require.NoError(t, err)
	require.Len(t, b, 2+65535)
	assert.Equal(t, "ALIVE2_REQ", OpAlive.String())
	assert.Equal(t, "request 7", Op(7).String())
}

func TestMalformedRequests(t *testing.T) {
	whole := "x" + sampleRegistrationBytes
	for i := range len(whole) {
		_, err := ParseRequest([]byte(whole[:i]))
		require.ErrorIs(t, err, ErrMalformed, "cut at %d", i)
	}
	for _, s := range []string{
		"", "\x00", "a", "s", "z", "z\x00", "za\x00b", "za\x00\x00", "z\xff", "z" + strings.Repeat("q", 256),
		"x\x00\x01M\x00\x00\x06\x00\x05\x00\x00\x00\x00",     // no name, no extra
		"x\x00\x01M\x00\x00\x06\x00\x05\x00\x01\x00\x00\x00", // NUL in the name
		"x\x00\x01M\x00\x00\x06\x00\x05\xff\xffa\x00\x00",    // length bombs
		"x\x00\x01M\x00\x00\x06\x00\x05\x00\x01a\xff\xff",
	} {
		_, err := ParseRequest([]byte(s))
		assert.ErrorIs(t, err, ErrMalformed, "%q", s)
	}
	r, err := ParseRequest([]byte("sa\x00b"))
	require.NoError(t, err)
	assert.Equal(t, "a", r.Name)
	r, err = ParseRequest([]byte("z" + strings.Repeat("é", 255) + "\x00"))
	require.NoError(t, err)
	assert.Len(t, r.Name, 510)
}

// A request that parses is written back to the bytes that count.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{"n", "d", "k", "sa", "za", "za\x00", "x" + sampleRegistrationBytes, "x" + sampleRegistrationBytes + "tail"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > MaxFrame {
			return
		}
		r, err := ParseRequest(body)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			return
		}
		b, err := r.Append(nil)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(body, b[2:]))
		if r.Op == OpStop && r.Name == "" {
			return // only "s\x00" asks for that
		}
		again, err := ParseRequest(b[2:])
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
