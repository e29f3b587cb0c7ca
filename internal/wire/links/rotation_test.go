package links_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestProved(t *testing.T) {
	by := func(known string) (string, bool) {
		return links.ProvedCookie("in", "out", []string{"old", "older"}, func(c string) bool { return c == known })
	}
	for known, want := range map[string]string{"in": "out", "old": "old", "older": "older", "out": "", "": ""} {
		answer, ok := by(known)
		require.Equal(t, want, answer, known)
		require.Equal(t, want != "", ok, known)
	}
}

var errOther = errors.New("another")

// The attempts of a dial: with which cookie, over which connection, and with what result.
func TestDial(t *testing.T) {
	refused := func(cookie string) error { return errors.Join(dist.ErrCookie, errors.New(cookie)) }
	for _, c := range []struct {
		name    string
		old     []string
		peer    map[string]error // the peer's answer to a cookie; if missing, it is refused
		redials error
		tried   []string
		want    string // in the error; "": none
	}{
		{"known", []string{"old"}, map[string]error{"new": nil}, nil, []string{"new"}, ""},
		{"old one", []string{"old", "older"}, map[string]error{"old": nil}, nil, []string{"new", "old"}, ""},
		{"oldest", []string{"old", "older"}, map[string]error{"older": nil}, nil, []string{"new", "old", "older"}, ""},
		{"none", []string{"old"}, nil, nil, []string{"new", "old"}, "new"},
		{"no old one", nil, nil, nil, []string{"new"}, "new"},
		{"something else", []string{"old"}, map[string]error{"new": errOther}, nil, []string{"new"}, "another"},
		{"something else later", []string{"old", "older"}, map[string]error{"old": errOther}, nil, []string{"new", "old"}, "another"},
		{"no connection", []string{"old"}, map[string]error{"old": nil}, errOther, []string{"new"}, "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := net.Pipe()
			conns := []net.Conn{a}
			h := dist.Handshake{
				Peer: "b@h", Cookies: func(wire.Atom) (in, out string) { return "new", "new" },
				OldCookies: func(wire.Atom) []string { return c.old },
				Redial: func(context.Context) (net.Conn, error) {
					a, _ := net.Pipe()
					conns = append(conns, a)
					return a, c.redials
				},
			}
			var tried []string
			got, err := links.DialCookies(t.Context(), a, h, func(conn net.Conn, h dist.Handshake) (string, error) {
				require.Same(t, conns[len(conns)-1], conn)
				in, out := h.Cookies(h.Peer)
				require.Equal(t, in, out)
				tried = append(tried, in)
				if err, known := c.peer[in]; known {
					return in, err
				}
				return "", refused(in)
			})
			require.Equal(t, c.tried, tried)
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, tried[len(tried)-1], got)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
