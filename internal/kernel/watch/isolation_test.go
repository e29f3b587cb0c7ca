package watch_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire"
)

type item struct {
	N    int
	Next *item
}

// kit is a guard, what it has reported and logged, and three processes.
type kit struct {
	*watch.Isolation
	found   []isolation.Change
	log     logtest.Text
	a, b, c wire.PID
}

func newKit(cfg isolation.Config) *kit {
	k := &kit{}
	cfg.Report = func(c isolation.Change) { k.found = append(k.found, c) }
	k.Isolation = watch.NewIsolation(cfg, k.log.Logger())
	o := wire.NewOrigin(wire.NodeID{Name: "a@b", Creation: 1})
	k.a, k.b, k.c = o.PID(1), o.PID(2), o.PID(3)
	return k
}

// take returns the changes found since the last take.
func (k *kit) take() []isolation.Change {
	found := k.found
	k.found = nil
	return found
}

// What a guard does follows from its Config.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		cfg                     isolation.Config
		wanted, checks, watches bool
	}{
		{isolation.Config{}, false, false, false},
		{isolation.Config{Check: true}, true, true, true},
		{isolation.Config{Copy: true}, true, false, false},
		{isolation.Config{Copy: true, Check: true}, true, true, false}, // nobody can change a copy
	} {
		k := newKit(c.cfg)
		require.Equal(t, c.wanted, k.Wanted())
		require.Equal(t, c.checks, k.Checks())
		require.Equal(t, c.watches, k.Watch(k.a, k.b, &item{}) != nil)
		require.Equal(t, c.watches, k.Hold(k.a, k.b, &item{}) != nil)
		require.Nil(t, k.Watch(k.a, k.a, &item{}), "to itself")
		require.Nil(t, k.Hold(k.a, k.a, &item{}), "to itself")
		require.Nil(t, k.Watch(k.a, k.b, 5), "nothing in it can change")
	}
}

func TestCopy(t *testing.T) {
	v := &item{1, &item{2, nil}}
	for _, must := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			now, err := newKit(isolation.Config{Copy: all}).Copy(must, v)
			require.NoError(t, err)
			require.Equal(t, v, now)
			if must || all {
				require.NotSame(t, v, now)
				require.NotSame(t, v.Next, now.(*item).Next)
			} else {
				require.Same(t, v, now)
			}
		}
	}
	_, err := newKit(isolation.Config{Copy: true}).Copy(false, []any{1, func() {}})
	var refused *isolation.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "[1]", refused.Path)
}

// A change is reported once, with the moment when it was found.
func TestMoments(t *testing.T) {
	for when, find := range map[string]func(k *kit, received func()){
		"received": func(_ *kit, received func()) { received() },
		"exited":   func(k *kit, _ func()) { k.Gone(k.c); require.Empty(t, k.found); k.Gone(k.b) },
		"stopped":  func(k *kit, _ func()) { k.Stop() },
		"waiting":  func(k *kit, _ func()) { k.Watch(k.a, k.c, &item{}) },
	} {
		k := newKit(isolation.Config{Check: true})
		v := &item{Next: &item{}}
		w := k.Watch(k.a, k.b, v)
		v.Next.N = 7
		find(k, w.Received)
		require.Equal(t, []isolation.Change{
			{From: k.a, To: k.b, Type: "*watch_test.item", Path: ".Next.N", Was: "0", Now: "7", When: when}}, k.take())
		require.Contains(t, k.log.String(), "a message was changed after it was sent")
		w.Received()
		k.Gone(k.b)
		k.Stop()
		require.Empty(t, k.take())
	}
	k := newKit(isolation.Config{Check: true})
	v := &item{}
	w := k.Hold(k.a, k.b, v)
	v.N = 1
	k.Gone(k.b)
	k.Stop()
	k.Watch(k.a, k.c, &item{})
	require.Empty(t, k.take(), "only who sends what a timer has compares it")
	w.Received()
	require.Equal(t, "sent", k.take()[0].When)
}

// Once received, a message belongs to its receiver; others that still wait for it are told who has received it.
func TestReceived(t *testing.T) {
	k := newKit(isolation.Config{Check: true})
	v := &item{}
	first, second := k.Watch(k.a, k.b, v), k.Watch(k.a, k.c, v)
	first.Received()
	first.Received()
	v.N = 1
	require.Empty(t, k.take())
	second.Received()
	found := k.take()
	require.Len(t, found, 1)
	require.Equal(t, k.c, found[0].To)
	require.Equal(t, []wire.PID{k.b}, found[0].Also)
}

// Each message sent has one of the waiting messages compared, in turn.
func TestTurns(t *testing.T) {
	k := newKit(isolation.Config{Check: true})
	const n = 10
	var all [n]item
	for i := range all {
		require.NotNil(t, k.Watch(k.a, k.b, &all[i]))
	}
	for i := range all {
		all[i].N = 1
	}
	for range 2 * n {
		k.Watch(k.a, k.c, 1) // has nothing to compare, and takes no place
	}
	require.Len(t, k.take(), n)
	k.Stop()
	require.Empty(t, k.take())
}

// There are at most 10,000 records: that is logged once, and messages beyond them are not compared.
func TestMostRecords(t *testing.T) {
	k := newKit(isolation.Config{Check: true})
	first := k.Watch(k.a, k.b, &item{})
	for range 9_999 {
		require.NotNil(t, k.Watch(k.a, k.b, &item{}))
	}
	for range 3 {
		require.Nil(t, k.Watch(k.a, k.b, &item{}))
	}
	require.Equal(t, 1, strings.Count(k.log.String(), "\n"))
	require.Contains(t, k.log.String(), "too many messages wait")
	first.Received()
	require.NotNil(t, k.Watch(k.a, k.b, &item{}), "there is space again")
	require.Nil(t, k.Watch(k.a, k.b, &item{}))
}

// Values beyond MaxBytes are not compared.
func TestMaxBytes(t *testing.T) {
	for most, want := range map[int]int{0: 1, 500: 0} {
		k := newKit(isolation.Config{Check: true, MaxBytes: most})
		v := &item{}
		last := v
		for range 20 {
			last.Next = &item{}
			last = last.Next
		}
		w := k.Watch(k.a, k.b, v)
		last.N = 1
		w.Received()
		require.Len(t, k.take(), want, most)
	}
}
