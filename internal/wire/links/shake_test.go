package links

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errEnded = errors.New("ended")

func explain(s *Handshake, err error) error {
	return s.Explain("b@h", "awaiting", err, func() error { return errEnded })
}

func TestSteps(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &Handshake{Package: "room", Ctx: ctx, Conn: near, Timeout: 10 * time.Millisecond}

	err := s.Run(func() error { return s.Write([]byte("x")) }) // nobody reads
	require.ErrorContains(t, explain(s, err), "room: handshake: b@h did not answer within 10ms (awaiting): ")
	s.Timeout = time.Hour
	go func() { _, _ = io.ReadFull(far, make([]byte, 1)) }() // ends with the byte
	require.NoError(t, s.Run(func() error { return s.Write([]byte("x")) }))

	// The end of the context ends whatever waits, however much time is left.
	why := errors.New("changed my mind")
	err = s.Run(func() error {
		require.NoError(t, s.Arm())
		cancel(why)
		_, err := near.Read(make([]byte, 1))
		return err
	})
	require.ErrorIs(t, explain(s, err), why)
	require.ErrorContains(t, explain(s, err), "room: handshake with b@h: ")
	require.ErrorIs(t, s.Write(nil), context.Canceled)
	require.ErrorIs(t, s.Run(func() error { return nil }), context.Canceled)
}

func TestHungUp(t *testing.T) {
	s := &Handshake{Package: "room", Ctx: t.Context()}
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, syscall.ECONNRESET, syscall.EPIPE} {
		assert.ErrorIs(t, explain(s, err), errEnded)
	}
	assert.EqualError(t, explain(s, errors.New("odd")), "room: handshake with b@h (awaiting): odd")
}

// A stranger's words about itself are shown quoted, and cut.
func TestShown(t *testing.T) {
	require.Equal(t, "a@host.örg", Shown("a@host.örg"))
	require.Equal(t, `"a\x1b[2J@h\n"`, Shown("a\x1b[2J@h\n"))
	long := Shown(strings.Repeat("x", 1<<16))
	require.Equal(t, `"`+strings.Repeat("x", 200)+`"…`, long)
}
