package epmdserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnswersAreLaidOutAsDocumented(t *testing.T) {
	for _, c := range []struct {
		a    AliveAnswer
		want string
	}{
		{AliveAnswer{Wide: true, Creation: 0x6b0177c9}, "\x76\x00\x6b\x01\x77\xc9"},
		{AliveAnswer{Creation: 3}, "\x79\x00\x00\x03"},
		{AliveAnswer{Wide: true, Result: 1, Creation: 99}, "\x76\x01\x00\x00\x00\x63"}, // ERLANG.md 4.1
		{AliveAnswer{Result: 1, Creation: 99}, "\x79\x01\x00\x63"},
	} {
		b := c.a.Append(nil)
		assert.Equal(t, c.want, string(b))
		a, rest, err := ParseAlive(append(b, '!'))
		require.NoError(t, err)
		assert.Equal(t, c.a, a)
		assert.Equal(t, "!", string(rest))
		for i := range len(b) {
			_, _, err := ParseAlive(b[:i])
			require.ErrorIs(t, err, ErrShort, "cut at %d", i)
		}
	}
	_, _, err := ParseAlive([]byte("w\x00"))
	require.ErrorIs(t, err, ErrMalformed)
}

func TestPortAnswers(t *testing.T) {
	b, err := PortAnswer{Registration: sampleRegistration}.Append(nil)
	require.NoError(t, err)
	require.Equal(t, "w\x00"+sampleRegistrationBytes, string(b))
	for i := range len(b) {
		_, _, err := ParsePort(b[:i])
		require.ErrorIs(t, err, ErrShort, "cut at %d", i)
	}
	p, rest, err := ParsePort(append(b, '!'))
	require.NoError(t, err)
	require.Equal(t, PortAnswer{Registration: sampleRegistration}, p)
	require.Equal(t, "!", string(rest))

	b, err = PortAnswer{Result: 1, Registration: sampleRegistration}.Append(nil)
	require.NoError(t, err)
	require.Equal(t, "w\x01", string(b))
	p, _, err = ParsePort(b)
	require.NoError(t, err)
	require.Equal(t, PortAnswer{Result: 1}, p)

	_, _, err = ParsePort([]byte("v"))
	require.ErrorIs(t, err, ErrMalformed)
	_, err = PortAnswer{Registration: Registration{Extra: make([]byte, 65536)}}.Append(nil)
	require.ErrorIs(t, err, ErrTooLong)
}

func TestNamesAnswers(t *testing.T) {
	want := NamesAnswer{Port: 4369, Entries: []Entry{{"a", 1}, {"b at port 7 c", 65535}}}
	b := want.Append(nil)
	require.Equal(t, "\x00\x00\x11\x11name a at port 1\nname b at port 7 c at port 65535\n", string(b))
	n, err := ParseNames(b)
	require.NoError(t, err)
	require.Equal(t, want, n)
	for i := range len(b) {
		_, err := ParseNames(b[:i])
		require.Equal(t, i < 4, err != nil, "cut at %d", i)
	}
	n, err = ParseNames([]byte("\x00\x00\x00\x01name  at port 1\nname x\nname y at port 65536\nname z at port -1\nnam q at port " +
		"3\n\nname w at port 7\nname v at port 8"))
	require.NoError(t, err)
	require.Equal(t, []Entry{{"w", 7}}, n.Entries)
}

// Parsers answer, ask for more, or refuse; an answer that they have read is written back the same.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"v\x00\x00\x00\x00\x01", "y\x01\x00\x63", "w\x01", "w\x00" + sampleRegistrationBytes,
		"\x00\x00\x11\x11name a at port 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, rest, err := ParseAlive(b); err == nil {
			require.Equal(t, b, append(a.Append(nil), rest...))
		}
		p, rest, err := ParsePort(b)
		if err == nil {
			again, err := p.Append(nil)
			require.NoError(t, err)
			require.Equal(t, b, append(again, rest...))
		}
		if n, err := ParseNames(b); err == nil {
			again, err := ParseNames(n.Append(nil))
			require.NoError(t, err)
			require.Equal(t, n, again)
		}
	})
}
