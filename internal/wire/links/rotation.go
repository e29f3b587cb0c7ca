package links

import (
	"context"
	"errors"
	"net"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ProvedCookie finds the cookie that a peer has proved: in, or one of old. It returns the cookie to answer with: out for
// in, else the same one. It returns false if the peer knows none of them.
func ProvedCookie(in, out string, old []string, proves func(cookie string) bool) (answer string, ok bool) {
	if proves(in) {
		return out, true
	}
	for _, c := range old {
		if proves(c) {
			return c, true
		}
	}
	return "", false
}

// DialCookies calls attempt with conn and the cookies of h, and again with each old one while the peer refuses the cookie.
// Each attempt owns its connection; the first is conn, the others are made by h.Redial. If all cookies are refused, the
// error is that of the first attempt.
func DialCookies[T any](ctx context.Context, conn net.Conn, h dist.Handshake,
	attempt func(net.Conn, dist.Handshake) (T, error)) (T, error) {
	got, err := attempt(conn, h)
	if h.OldCookies == nil || h.Redial == nil {
		return got, err
	}
	first := err
	for _, old := range h.OldCookies(h.Peer) {
		if !errors.Is(err, dist.ErrCookie) {
			return got, err
		}
		conn, failed := h.Redial(ctx)
		if failed != nil {
			return got, first
		}
		h.Cookies = func(wire.Atom) (in, out string) { return old, old }
		got, err = attempt(conn, h)
	}
	if errors.Is(err, dist.ErrCookie) {
		err = first
	}
	return got, err
}
