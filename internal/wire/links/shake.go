package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/printable"
)

// Handshake runs the steps of a handshake over a connection, each with a deadline.
type Handshake struct {
	Package string // prefix of errors
	Ctx     context.Context
	Conn    net.Conn
	Timeout time.Duration // for each step
}

// Run runs the steps in do. If the context ends, waiting operations fail. After success the connection has no deadline.
func (s *Handshake) Run(do func() error) error {
	stop := context.AfterFunc(s.Ctx, func() { _ = s.Conn.SetDeadline(time.Unix(1, 0)) }) // interrupts waiting operations
	defer stop()
	if err := do(); err != nil {
		return err
	}
	if !stop() {
		return s.Ctx.Err()
	}
	if err := s.Conn.SetDeadline(time.Time{}); err != nil {
		return fmt.Errorf("%s: handshake: %w", s.Package, err)
	}
	return nil
}

// Arm sets the deadline of the next step.
func (s *Handshake) Arm() error {
	if err := s.Conn.SetDeadline(time.Now().Add(s.Timeout)); err != nil {
		return err
	}
	return s.Ctx.Err() // it may have ended before the deadline was set
}

// Write is a step that sends b.
func (s *Handshake) Write(b []byte) error {
	if err := s.Arm(); err != nil {
		return err
	}
	_, err := s.Conn.Write(b)
	return err
}

// Explain turns an error of the connection into one of the handshake with peer, in that
// state; ended returns the error for a connection that the peer has closed.
func (s *Handshake) Explain(peer, state string, err error, ended func() error) error {
	var timeout net.Error
	switch {
	case s.Ctx.Err() != nil:
		return fmt.Errorf("%s: handshake with %s: %w", s.Package, peer, context.Cause(s.Ctx))
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s: handshake: %s did not answer within %v (%s): %w", s.Package, peer, s.Timeout, state, err)
	case closedByPeer(err):
		return ended()
	}
	return fmt.Errorf("%s: handshake with %s (%s): %w", s.Package, peer, state, err)
}

// closedByPeer reports whether the peer has closed the connection.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// maxName is the maximum length of a name in characters, that of an atom.
const maxName = 255

// CheckName validates the name of a node. No connected node can have a refused name, so names of nodes are safe to display.
func CheckName(name string) error {
	before, host, ok := strings.Cut(name, "@")
	switch {
	case !ok || before == "" || host == "" || strings.Contains(host, "@"):
		return fmt.Errorf("%.300q is not a node name: want name@host", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("node name %.300q is not UTF-8", name)
	case !printable.Is(name) || strings.ContainsFunc(name, unicode.IsSpace):
		return fmt.Errorf("node name %.300q has a character in it that does not print, or a space", name)
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("node name %.300q has more than %d characters", name, maxName)
	}
	return nil
}

// maxShown is the maximum number of displayed bytes of a name that a peer claims without proof.
const maxShown = 200

// Shown returns the form in which an error has a name that a peer claims and has not proved: at
// most 200 bytes of it, quoted if it is longer or has characters that do not print.
func Shown(name string) string {
	cut := name[:min(len(name), maxShown)]
	if q := printable.Text(strconv.QuoteToGraphic(cut)); len(cut) < len(name) {
		return q + "…"
	} else if q[1:len(q)-1] != name {
		return q
	}
	return name
}
