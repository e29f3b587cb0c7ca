package erldist

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// A challenge that was posed in one handshake of a node is not answered in another, nor posed twice.
func TestChallenges(t *testing.T) {
	var c challenges
	mine, err := c.issue("a@h")
	require.NoError(t, err)
	require.False(t, c.answer(mine))
	require.True(t, c.answer(challenge{"b@h", mine.number}), "another node of this program")
	c.done(mine, false)
	require.True(t, c.answer(mine))
	require.False(t, c.answer(mine), "in two handshakes at a time")
	c.done(mine, false)
	c.done(challenge{"b@h", mine.number}, false)
	require.Empty(t, c.open)
	require.Nil(t, c.answered[0], "no memory where all peers prove themselves")
}

// A challenge that was answered to a peer that did not prove itself is not posed, as far back as is remembered, and
// numbers do not run out.
func TestChallengesAnswered(t *testing.T) {
	var c challenges
	old := challenge{"a@h", 5}
	require.True(t, c.answer(old))
	c.done(old, true)
	require.True(t, marked(c.answered[0], 5))
	for i := range uint32(mostGroups) {
		n := challenge{"a@h", i * (1 << 32 / groups)}
		require.True(t, c.answer(n))
		c.done(n, true)
	}
	require.True(t, marked(c.answered[1], 5) || marked(c.answered[0], 5))
	for range 100 {
		n, err := c.issue("a@h")
		require.NoError(t, err)
		require.False(t, marked(c.answered[0], n.number) || marked(c.answered[1], n.number))
		c.done(n, false)
	}
	for i := range uint32(3 * mostGroups) {
		n := challenge{"a@h", (mostGroups + i%(groups-mostGroups)) * (1 << 32 / groups)}
		require.True(t, c.answer(n))
		c.done(n, true)
	}
	require.False(t, marked(c.answered[0], 5) || marked(c.answered[1], 5), "that was too long ago")
	require.Empty(t, c.open)
}

// A Dial to a peer that poses a challenge and goes remembers the challenge it has answered.
func TestDialRemembersAnswers(t *testing.T) {
	var p Protocol
	here, there := net.Pipe()
	go func() { // ends with the handshake
		x := exchange{links.Handshake{Ctx: t.Context(), Conn: there, Timeout: time.Minute}, 2}
		_, _ = x.read()
		_ = x.write(statusOK.append(nil))
		_ = x.write(challengeMsg{flags: erlflags.Announce(0), challenge: 77, creation: 1, name: "b@host"}.append(nil))
		_, _ = x.read()
		there.Close()
	}()
	_, err := p.Dial(t.Context(), here, dist.Handshake{Local: wire.NodeID{Name: "a@host", Creation: 1}, Peer: "b@host",
		Cookies: func(wire.Atom) (string, string) { return "x", "x" }})
	require.ErrorIs(t, err, dist.ErrCookie)
	require.True(t, marked(p.challenges.answered[0], 77))
	require.Empty(t, p.challenges.open)
}
