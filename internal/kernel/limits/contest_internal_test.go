package limits

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire/dist"
)

func TestAdmits(t *testing.T) {
	for _, test := range []struct {
		s    Standing
		want dist.Verdict
	}{
		{Standing{}, dist.Welcome},
		{Standing{Greater: true}, dist.Welcome},
		{Standing{Naming: true}, dist.Simultaneous},
		{Standing{Naming: true, Greater: true}, dist.Busy},
		{Standing{Up: true}, dist.Alive},
		{Standing{Up: true, Naming: true, Greater: true}, dist.Alive},
	} {
		require.Equal(t, test.want, test.s.Admits(), "%+v", test.s)
		require.Equal(t, test.want == dist.Busy, test.s.Waits(), "%+v", test.s)
	}
}

func TestOutlasts(t *testing.T) {
	for _, test := range []struct {
		s    Standing
		want bool
		why  string
	}{
		{Standing{}, false, "there is none"},
		{Standing{Arrival: 9, Greater: true}, false, "it is over"},
		{Standing{Up: true, Arrival: 9}, true, "the peer has come again since"},
		{Standing{Up: true, Arrival: 4, Greater: true}, false, "this is the newer one"},
		{Standing{Up: true, Greater: true}, true, "dialled meanwhile, by the greater name"},
		{Standing{Up: true}, false, "dialled by the smaller name"},
		{Standing{Up: true, Older: true, Greater: true}, false, "the peer knows it, and says that it is dead"},
	} {
		require.Equal(t, test.want, test.s.Outlasts(5), test.why)
	}
	require.True(t, GivesUp(false, false))
	require.True(t, GivesUp(true, true))
	require.False(t, GivesUp(true, false))
}

// contestant is one of two nodes that dial each other, as far as the contest goes: its own attempt, and what has become
// of the other's.
type contestant struct {
	own  attempt
	link int // whose attempt has become its connection: 1 its own, 2 the other's; 0: none yet
}

// attempt is how far an attempt has come, on the dialling side and on the other.
type attempt uint8

const (
	notBegun attempt = iota
	hasName          // the name has been said; the other side has not heard it yet
	verdict          // the verdict is on its way back
	welcome          // the other side lets this go on; its proof is on its way there
	proved           // the proof has arrived and the other side has taken the connection; this one does not know yet
	failed
	made
)

type contest [2]contestant // 1 has the greater name

// standing returns what side knows about the other.
func (c contest) standing(side int) Standing {
	me := c[side]
	s := Standing{Greater: side == 1, Up: me.link != 0}
	s.Naming = me.own > notBegun && me.own < failed
	if me.link == 2 {
		s.Arrival = 1
	}
	return s
}

// moves returns what may happen next. gives says that a node whose attempt meets one of the greater name gives its own
// up at once, as OTP nodes do.
func (c contest) moves(gives bool) (next []contest) {
	for side := range c {
		n, other := c, 1-side
		me, you := &n[side], &n[other]
		switch me.own {
		case notBegun:
			me.own = hasName
			if me.link != 0 {
				me.own = failed // beginDial: the peer has already connected
			}
			next = append(next, n)
		case hasName:
			switch c.standing(other).Admits() {
			case dist.Welcome:
				me.own = welcome
			case dist.Simultaneous:
				me.own = welcome
				if gives && you.own > notBegun && you.own < proved {
					you.own = failed
				}
			case dist.Busy:
				me.own = failed
			case dist.Alive: // this side insists if it lacks the link
				me.own = welcome
				if me.link != 0 {
					me.own = failed
				}
			}
			next = append(next, n)
		case welcome:
			s := c.standing(other)
			if s.Waits() {
				continue
			}
			if s.Outlasts(1) {
				me.own = failed
			} else {
				me.own = proved
				you.link = 2
			}
			next = append(next, n)
		case proved:
			if me.link == 0 {
				me.link, me.own = 1, made
			} else if GivesUp(side == 1, false) {
				me.own = failed // closing it ends it there, too
				if you.link == 2 {
					you.link = 0
				}
			} else {
				me.link, me.own = 1, made
			}
			next = append(next, n)
		}
	}
	return next
}

// In whatever order two nodes that dial each other hear of each other, both end up with the same connection, and
// neither has another one before.
func TestContest(t *testing.T) {
	for _, gives := range []bool{false, true} {
		testContest(t, gives)
	}
}

func testContest(t *testing.T, gives bool) {
	seen := map[contest]bool{}
	todo := []contest{{}}
	ends := 0
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[c] {
			continue
		}
		seen[c] = true
		next := c.moves(gives)
		if len(next) == 0 {
			ends++
			require.Contains(t, []string{"1 2", "2 1"}, fmt.Sprint(c[0].link, " ", c[1].link), "%+v", c)
		}
		for _, n := range next {
			for side := range c {
				require.True(t, c[side].link == 0 || n[side].link == c[side].link, "a connection is lost: %+v, %+v", c, n)
			}
		}
		todo = append(todo, next...)
	}
	require.NotZero(t, ends)
}
