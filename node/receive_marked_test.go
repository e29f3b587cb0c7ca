package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// The messages of the model: each has a number of its own.
type (
	apple struct{ n int }
	pear  struct{ n int }
	plum  struct{ n int }
)

// numberOf returns the number of a message of the model; -1: it is another message.
func numberOf(m any) int {
	switch m := m.(type) {
	case apple:
		return m.n
	case pear:
		return m.n
	case plum:
		return m.n
	}
	return -1
}

// reader is a process together with the simplest model of its mailbox: a slice.
type reader struct {
	t     *testing.T
	r     *rand.Rand
	p     *node.Process
	box   []any
	next  int
	marks []marked
	log   []string
}

// marked is a mark of the process and of the model.
type marked struct {
	receive func(time.Duration, func(any) bool) (any, error)
	before  int // messages before the mark
}

func (m *reader) note(f string, args ...any) { m.log = append(m.log, fmt.Sprintf(f, args...)) }

// fruit makes a message.
func (m *reader) fruit() any {
	m.next++
	switch m.r.IntN(3) {
	case 0:
		return apple{m.next}
	case 1:
		return pear{m.next}
	}
	return plum{m.next}
}

// push makes one sender, the process itself or a goroutine, send several messages.
func (m *reader) push() {
	count := 1 + m.r.IntN(6)
	if m.r.IntN(10) == 0 {
		count = 100
	}
	var all []any
	for range count {
		all = append(all, m.fruit())
	}
	m.note("push %d", count)
	m.box = append(m.box, all...)
	if m.r.IntN(2) == 0 {
		fill(m.t, m.p, all...)
		return
	}
	var sender sync.WaitGroup
	sender.Go(func() {
		for _, msg := range all {
			assert.NoError(m.t, m.p.Node().Send(m.p.Self(), msg))
		}
	})
	sender.Wait()
}

// wants returns a predicate that matches some messages of the model and no other message.
func (m *reader) wants() func(any) bool {
	mod := 1 + m.r.IntN(40)
	rest := m.r.IntN(mod)
	return func(msg any) bool { n := numberOf(msg); return n >= 0 && n%mod == rest }
}

// within is a timeout for a message that may not be there: zero, or a very short one.
func (m *reader) within() time.Duration { return time.Duration(m.r.IntN(5)/4) * time.Microsecond }

// took compares what a receive has taken with what it should have taken: the first message from index from on that want
// accepts.
func (m *reader) took(from int, want func(any) bool, got any, err error) {
	at := slices.IndexFunc(m.box[from:], want)
	if at < 0 {
		require.ErrorIs(m.t, err, node.ErrTimeout, "got %v; %v", got, m.log)
		return
	}
	require.NoError(m.t, err, "%v", m.log)
	require.Equal(m.t, m.box[from+at], got, "%v", m.log)
	m.delete(from + at)
}

func (m *reader) delete(at int) {
	m.box = slices.Delete(m.box, at, at+1)
	for i := range m.marks {
		if at < m.marks[i].before {
			m.marks[i].before--
		}
	}
}

func anything(any) bool { return true }

func typed[T any](m any) bool { _, ok := m.(T); return ok }

// step does one thing.
func (m *reader) step() {
	switch m.r.IntN(20) {
	case 0, 1, 2, 3:
		m.push()
	case 4, 5:
		m.note("receive")
		if len(m.box) == 0 {
			m.push()
		}
		m.took(0, anything, m.p.Receive(), nil)
	case 6, 7:
		m.note("match")
		want := m.wants()
		got, err := m.p.ReceiveWithin(m.within(), want)
		m.took(0, want, got, err)
	case 8, 9, 10:
		for range 1 + m.r.IntN(5) {
			m.note("of a type")
			got, err := node.ReceiveOfWithin[apple](m.p, m.within())
			m.took(0, typed[apple], got, err)
		}
	case 11:
		m.note("of another type")
		got, err := node.ReceiveOfWithin[pear](m.p, m.within())
		m.took(0, typed[pear], got, err)
	case 12, 13:
		m.note("mark")
		m.marks = append(m.marks, marked{m.p.Mark(), len(m.box)})
	case 14, 15, 16:
		m.receiveMarked()
	case 17:
		m.note("a mark is forgotten")
		if len(m.marks) != 0 {
			m.marks = slices.Delete(m.marks, 0, 1)
		}
	case 18:
		m.signals()
	case 19:
		m.wait()
	}
}

// receiveMarked receives by a mark. The predicate is not called for older messages.
func (m *reader) receiveMarked() {
	if len(m.marks) == 0 {
		return
	}
	i := m.r.IntN(len(m.marks))
	m.note("by the mark %d", i)
	k := m.marks[i]
	if m.r.IntN(4) == 0 {
		got, err := k.receive(m.within(), nil)
		m.took(k.before, anything, got, err)
		return
	}
	var asked []any
	want := m.wants()
	got, err := k.receive(m.within(), func(msg any) bool {
		asked = append(asked, msg)
		return want(msg)
	})
	for i, msg := range asked {
		require.Equal(m.t, m.box[k.before+i], msg, "%v", m.log)
	}
	m.took(k.before, want, got, err)
}

// signals turns signals into messages: a trapped exit signal, and a Down, which a demonitor removes again or not.
func (m *reader) signals() {
	switch m.r.IntN(3) {
	case 0:
		m.note("exit signal")
		m.p.Node().Exit(m.p.Self(), node.Atom("boo"))
		m.box = append(m.box, node.Exited{Reason: node.Atom("boo")})
		return
	case 1:
		m.note("down")
		ref := m.p.Monitor(node.Atom("nobody"))
		m.box = append(m.box, node.Down{Ref: ref, Name: "nobody", Node: m.p.Node().Name(), Reason: node.NoProc})
		return
	}
	m.note("flush")
	ref := m.p.Monitor(node.Atom("nobody"))
	for range m.r.IntN(3) {
		fruit := m.fruit()
		m.box = append(m.box, fruit)
		fill(m.t, m.p, fruit)
	}
	require.False(m.t, m.p.DemonitorFlush(ref))
}

// wait waits for a message that may be sent only meanwhile.
func (m *reader) wait() {
	msg := m.fruit()
	want := func(got any) bool { return got == msg }
	var sender sync.WaitGroup
	defer sender.Wait()
	send := func() { assert.NoError(m.t, m.p.Node().Send(m.p.Self(), msg)) }
	if m.r.IntN(2) == 0 || len(m.marks) == 0 {
		m.note("wait")
		sender.Go(send)
		require.Equal(m.t, msg, m.p.ReceiveMatch(want), "%v", m.log)
		return
	}
	m.note("wait by a mark")
	k := m.marks[m.r.IntN(len(m.marks))]
	sender.Go(send)
	got, err := k.receive(node.Infinity, want)
	require.NoError(m.t, err, "%v", m.log)
	require.Equal(m.t, msg, got, "%v", m.log)
}

// eachReader runs f in each kind of blocking process.
func eachReader(t *testing.T, f func(t *testing.T, p *node.Process)) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		s.Run(t, n, func(p *node.Process) { f(t, p) })
	})
	t.Run("handle", func(t *testing.T) {
		f(t, nodetest.NewProbe(t, nodetest.Start(t, node.Config{})).Process)
	})
}

// Receives of all kinds take the same messages as from a list, while other goroutines look at the mailbox.
func TestSelectiveModel(t *testing.T) {
	eachReader(t, func(t *testing.T, p *node.Process) {
		p.TrapExit(true)
		r := testkit.Rand(t)
		stop := make(chan struct{})
		var watcher sync.WaitGroup
		watcher.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					p.Node().Inside(process.Key{}).Messages(p.Self(), 3)
				}
			}
		})
		for range testkit.By(8, 40, 400) {
			m := &reader{t: t, r: r, p: p}
			for range 100 {
				m.step()
			}
			require.Equal(t, m.box, append([]any(nil), actortest.Rest(p)...), "%v", m.log)
		}
		close(stop)
		watcher.Wait()
	})
}

// A receive by a mark never looks at an older message, however often it is called.
func TestMarkedReceiveDoesNotScan(t *testing.T) {
	eachReader(t, func(t *testing.T, p *node.Process) {
		const waiting = 1000
		for i := range waiting {
			fill(t, p, apple{i})
		}
		for i := range 3 {
			receive := p.Mark()
			ref := p.Node().MakeRef()
			fill(t, p, pear{i}, ref)
			asked := 0
			got, err := receive(node.Infinity, func(m any) bool { asked++; return m == ref })
			require.NoError(t, err)
			require.Equal(t, []any{ref, 2}, []any{got, asked})
		}
		require.Len(t, actortest.Rest(p), waiting+3)
	})
}

// An answer by a monitor or an alias counts as later than a mark that is older than the monitor or alias.
func TestMarkBeforeMonitorAndAlias(t *testing.T) {
	eachReader(t, func(t *testing.T, p *node.Process) {
		fill(t, p, 1, 2, 3)
		receive := p.Mark()
		ref := p.Monitor(node.Atom("nobody"))
		alias := p.AliasOnce()
		require.NoError(t, p.Send(alias, "by alias"))
		asked := 0
		got, err := receive(time.Second, func(m any) bool { asked++; return m == "by alias" })
		require.NoError(t, err)
		require.Equal(t, "by alias", got)
		got, err = receive(time.Second, func(m any) bool { asked++; d, ok := m.(node.Down); return ok && d.Ref == ref })
		require.NoError(t, err)
		require.Equal(t, node.NoProc, got.(node.Down).Reason)
		require.Equal(t, 3, asked)
		_, err = receive(0, nil)
		require.ErrorIs(t, err, node.ErrTimeout)
		_, err = receive(-1, nil)
		require.ErrorIs(t, err, node.ErrArgument)
		require.Equal(t, []any{1, 2, 3}, actortest.Rest(p))
	})
}

// A message that was in a bounded mailbox before the mark, but no receive has looked at, counts as later.
func TestMarkInBoundedMailbox(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, s := range actortest.BlockingStyles() {
		s.Options.Bounds.Messages = 10
		s.Run(t, n, func(p *node.Process) {
			fill(t, p, 1, 2)
			_, err := p.ReceiveWithin(0, is("none"))
			assert.ErrorIs(t, err, node.ErrTimeout)
			fill(t, p, 3)
			receive := p.Mark()
			fill(t, p, 4)
			got, err := receive(0, nil)
			assert.NoError(t, err)
			assert.Equal(t, 3, got)
			assert.Equal(t, []any{1, 2, 4}, actortest.Rest(p))
		})
	}
}

// On a closed handle a marked receive returns the same as other receives.
func TestMarkOfClosedHandle(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	p := nodetest.NewProbe(t, n)
	receive := p.Mark()
	p.Close(nil)
	_, err := receive(node.Infinity, nil)
	require.ErrorIs(t, err, node.ErrExited)
}
