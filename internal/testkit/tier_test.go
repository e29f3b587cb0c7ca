package testkit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// skipping is a test that records why it was skipped. Its Skipf returns, unlike that of a testing.T.
type skipping struct {
	testing.TB
	why []string
}

func (s *skipping) Helper()                       {}
func (s *skipping) Skipf(format string, a ...any) { s.why = append(s.why, fmt.Sprintf(format, a...)) }

func TestTiers(t *testing.T) {
	for _, c := range []struct {
		env  string
		at   Tier
		skip []string // tiers left out
		by   int
	}{
		{"", Test, []string{"left to make merge: x", "left to make night: x"}, 1},
		{"test", Test, []string{"left to make merge: x", "left to make night: x"}, 1},
		{"merge", Merge, []string{"left to make night: x"}, 2},
		{"night", Night, nil, 3},
	} {
		t.Setenv("ACTORNODE_TESTS", c.env)
		assert.Equal(t, c.at, At())
		assert.Equal(t, c.by, By(1, 2, 3))
		s := &skipping{TB: t}
		for _, least := range []Tier{Test, Merge, Night} {
			From(s, least, "x")
		}
		assert.Equal(t, c.skip, s.why)
	}
	t.Setenv("ACTORNODE_TESTS", "nigth")
	assert.PanicsWithValue(t, "ACTORNODE_TESTS=nigth: want test, merge or night", func() { At() })
}

func TestProgram(t *testing.T) {
	t.Setenv("ACTORNODE_TESTS", "merge")
	s := &skipping{TB: t}
	assert.NotEmpty(t, Program(s, Merge, "go"))
	assert.Empty(t, s.why)
	Program(s, Merge, "no-such-program")
	Program(s, Night, "go")
	Program(s, Night, "erlc")
	assert.Equal(t, []string{"not installed: no-such-program", "left to make night: go", "left to make night: real OTP"}, s.why[:3],
		"where it is not installed it is left to make night all the same")
}
