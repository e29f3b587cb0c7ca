package limits

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// A peer is judged for what it does not take by facts, not by a clock.
func TestJudge(t *testing.T) {
	const kib = 1 << 10
	limits := Limits{Answers: 100 * kib, Stall: time.Hour}
	start := time.Unix(1000, 0)
	type look struct {
		after   time.Duration
		waits   int // in the link
		answers int
		sent    uint64
		ends    string
		longest int // the longest of the answers
	}
	for name, looks := range map[string][]look{
		"nothing is taken": {{0, 2 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 5, "", 0},
			{time.Minute, 2 * kib, 0, 5, "the peer took nothing for 1h0m0s while 2.0 KiB waited to be sent (limits.stall)", 0}},
		"something is": {{0, 2 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 6, "", 0}, {time.Minute, 2 * kib, 0, 6, "", 0}},
		"little waits": {{0, 1 * kib, 0, 5, "", 0}, {2 * time.Hour, 1 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 5, "", 0}},
		"answers are taken at a good rate": {{0, 200 * kib, 200 * kib, 0, "", 0}, {15 * time.Minute, 200 * kib, 200 * kib, 60 * kib, "", 0},
			{15 * time.Minute, 200 * kib, 200 * kib, 120 * kib, "", 0}},
		"too slowly": {{0, 200 * kib, 200 * kib, 0, "", 0}, {14 * time.Minute, 200 * kib, 200 * kib, 1, "", 0},
			{time.Minute, 200 * kib, 200 * kib, 40 * kib,
				"the peer does not read its answers: 200.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 0}},
		"one that is long": {{0, 500 * kib, 500 * kib, 0, "", 410 * kib}, {30 * time.Minute, 500 * kib, 500 * kib, 1, "", 410 * kib}},
		"far too many beside a long one": {{0, 900 * kib, 900 * kib, 0, "", 410 * kib}, {Moment, 900 * kib, 900 * kib, 0,
			"the peer does not read its answers: 900.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 410 * kib}},
		"far too many, and some are taken": {{0, 500 * kib, 500 * kib, 0, "", 0}, {Moment, 500 * kib, 500 * kib, 9, "", 0},
			{Moment / 2, 500 * kib, 500 * kib, 9, "", 0}},
		"far too many": {{0, 500 * kib, 500 * kib, 0, "", 0}, {Moment, 500 * kib, 500 * kib, 0,
			"the peer does not read its answers: 500.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			q, now := NewQuota(limits), start
			var b Backlog
			for _, k := range looks {
				now = now.Add(k.after)
				why := q.Judge(&b, Look{
					At: now, Steady: true, Limit: kib, Sent: k.sent, Waits: k.waits, Answers: k.answers, Longest: min(k.longest, k.answers),
				})
				if k.ends == "" {
					require.NoError(t, why)
				} else {
					require.EqualError(t, why, k.ends)
				}
			}
		})
	}
	q := NewQuota(limits)
	var held Backlog
	see := func(after time.Duration, waits int) error {
		return q.Judge(&held, Look{At: start.Add(after), Steady: true, Limit: kib, Held: true, Sent: 5, Waits: waits})
	}
	require.NoError(t, see(0, kib/4))
	require.NoError(t, see(time.Hour-1, kib/4))
	require.EqualError(t, see(time.Hour, kib/4), "the peer took nothing for 1h0m0s while 256 bytes waited to be sent (limits.stall)",
		"senders wait, though less waits than may")
	require.NoError(t, see(2*time.Hour, 0), "nothing waits")
	var b Backlog
	require.NoError(t, q.Judge(&b, Look{At: start, Waits: 2 * kib, Limit: kib}))
	require.NoError(t, q.Judge(&b, Look{At: start.Add(2 * time.Hour), Waits: 2 * kib, Limit: kib}), "there is no connection for the moment")
	require.EqualError(t, q.Judge(&b, Look{At: start, Steady: true, Unacked: true}), "the peer does not acknowledge removed links: 0 wait (limits.links)")
}

// While more than allowed waits for all peers together, a peer whose answers exceed its share is ended, though at other
// times it might have as many.
func TestJudgeShareOfAnswers(t *testing.T) {
	const mib = 1 << 20
	q := NewQuota(Limits{Queued: 4 * mib, Answers: 16 * mib, Stall: time.Hour})
	now := time.Unix(1000, 0)
	var peers [2]Backlog
	var told [2]int
	wait := func(p, answers int) error {
		q.Change(told[p], answers)
		told[p] = answers
		return q.Judge(&peers[p], Look{At: now, Steady: true, Waits: answers, Limit: 8 * mib, Answers: answers})
	}
	require.NoError(t, wait(0, 3*mib), "all may have 4 MiB")
	require.NoError(t, wait(1, 1*mib), "half of what all may have is more")
	require.Equal(t, time.Hour, peers[1].Again(time.Hour))
	require.EqualError(t, wait(0, 5*mib), "the peer does not read its answers: 5.0 MiB of them wait, 2.0 MiB are allowed (limits.answers)")
	require.Equal(t, Moment, peers[0].Again(time.Hour))
	require.NoError(t, wait(1, 1*mib))
}

func TestShares(t *testing.T) {
	var none *Quota
	none.Change(0, 5)
	require.Equal(t, 5, none.Room(5))
	q := NewQuota(Limits{Queued: 10 * Step})
	q.Change(0, 9*Step)
	require.Equal(t, 100*Step, q.Room(100*Step))
	require.Empty(t, q.Looks())
	q.Change(0, 2*Step)
	require.Len(t, q.Looks(), 1, "the driver is to look")
	require.Equal(t, 5*Step, q.Room(100*Step))
	require.Equal(t, Step, q.Room(Step))
	q.Change(2*Step, 0)
	require.Equal(t, 1, q.Busy())
	q.Change(9*Step, 0)
	require.Zero(t, q.Queued.Used())
	require.Zero(t, q.Busy())
}

// A budget takes no more than one peer may have and no more than all may have, and gives back what it took.
func TestBudget(t *testing.T) {
	q := NewQuota(Limits{Fragments: 100, Message: 10})
	a, b, c := q.NewBudget(), q.NewBudget(), q.NewBudget()
	require.True(t, a.Take(50))
	require.False(t, a.Take(1), "half of it is for one peer")
	require.True(t, b.Take(45))
	require.False(t, c.Take(6), "there is no more")
	require.True(t, c.Take(5))
	a.Give(50)
	b.Give(45)
	c.Give(5)
	require.Zero(t, q.Fragments.Used())
	require.EqualValues(t, 2, q.Fragments.Refused())
	require.True(t, NewQuota(Limits{Fragments: 10, Message: 10}).NewBudget().Take(10), "the longest message may always come")
}

// What peers hold is counted by their names, whoever comes and goes; an owner that holds nothing is forgotten.
func TestOwners(t *testing.T) {
	q := NewQuota(Limits{Spawned: 2, Names: 1})
	h := &q.Owners
	taken := func(o *Owner, err error) *Owner {
		require.NoError(t, err)
		return o
	}
	a, b := taken(h.TakeSpawn(named("a"))), taken(h.TakeSpawn(named("a")))
	require.Same(t, a, b)
	_, err := h.TakeSpawn(named("a"))
	require.ErrorIs(t, err, ErrTooMany)
	require.EqualError(t, err, "node: a@h has started its limit of 2 processes here (limits.spawned)")
	taken(h.TakeSpawn(named("b")))
	require.Same(t, a, taken(h.TakeName(named("a"))))
	_, err = h.TakeName(named("a"))
	require.EqualError(t, err, "node: a@h has registered its limit of 1 names here (limits.names)")
	spawned, names := h.Most()
	require.EqualValues(t, 2, spawned)
	require.EqualValues(t, 1, names)
	a.GiveSpawn()
	taken(h.TakeSpawn(named("a")))
	a.GiveName()
	taken(h.TakeName(named("a")))
	for k := range HeldKinds {
		require.Equal(t, k.String(), q.Limit(k).Use().Name)
	}
	require.Equal(t, Use{Name: "spawned", Max: 2, Refused: 1}, q.Limit(HeldSpawned).Use())
	// A peer with the same name as another is a different peer.
	other := named("a")
	other.Cookie = "ops"
	require.NotSame(t, a, taken(h.TakeName(other)))
	other.Cookie, other.TLS = "", []string{"cn:a"}
	require.NotSame(t, a, taken(h.TakeName(other)))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 1000 {
				if o, err := h.TakeSpawn(named(i)); err == nil {
					o.GiveSpawn()
				}
			}
		})
	}
	wg.Wait()
	for i := range 10 * idleOwners {
		taken(h.TakeSpawn(named(i))).GiveSpawn()
	}
	require.LessOrEqual(t, len(h.by), idleOwners+1)
}

func named(name any) rights.Identity { return rights.Identity{Name: wire.Atom(fmt.Sprint(name, "@h"))} }
