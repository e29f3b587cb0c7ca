package nodetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actornode/actornode/node"
)

// Probe is a process of a test: it plays the other side of what is tested. It is a [node.Process], with what one can do, and
// belongs to the goroutine of the test.
//
// It also answers calls:
//
//	f := node.Async[int](n, p.Self(), Price{"tea"})
//	r := nodetest.Expect[node.Request[Price]](p)
//	r.Reply(3)
type Probe struct {
	*node.Process
	Timeout time.Duration // of each wait; at first the variable of that name

	t testing.TB
}

// NewProbe starts a probe. It is closed when the test ends.
func NewProbe(t testing.TB, n *node.Node) *Probe {
	t.Helper()
	h, err := n.Open()
	if err != nil {
		t.Fatalf("there is no process for the probe: %v", err)
	}
	t.Cleanup(func() { h.Close(nil) })
	return &Probe{h, Timeout, t}
}

// Expect takes the oldest message, waits for one if there is none, and fails the test unless it is a T.
func Expect[T any](p *Probe) T {
	p.t.Helper()
	m := p.next(fmt.Sprintf("a %T", *new(T)), nil)
	v, ok := m.(T)
	if !ok {
		p.t.Fatalf("the message is %s, and should be a %T\n%s", show(m), v, p.rest())
	}
	return v
}

// Find takes the oldest T for which match, unless nil, returns true, and waits for one if there is none. Other messages stay.
func Find[T any](p *Probe, match func(T) bool) T {
	p.t.Helper()
	return p.next(fmt.Sprintf("a %T that matches", *new(T)), func(m any) bool {
		v, ok := m.(T)
		return ok && (match == nil || match(v))
	}).(T)
}

// Expect takes as many messages as there are in want, and waits for those that are missing. The test fails unless they are
// equal ([reflect.DeepEqual]), in the same order.
func (p *Probe) Expect(want ...any) {
	p.t.Helper()
	for i, w := range want {
		m := p.next(show(w), nil)
		if !reflect.DeepEqual(w, m) {
			p.t.Fatalf("message %d of %d is %s, and should be %s\n%s", i+1, len(want), show(m), show(w), p.rest())
		}
	}
}

// ExpectAnyOrder is Expect for messages that may come in any order.
func (p *Probe) ExpectAnyOrder(want ...any) {
	p.t.Helper()
	for missing := append([]any{}, want...); len(missing) > 0; {
		m := p.next("one of "+show(missing...), nil)
		i := 0
		for i < len(missing) && !reflect.DeepEqual(missing[i], m) {
			i++
		}
		if i == len(missing) {
			p.t.Fatalf("the message %s should be one of %s\n%s", show(m), show(missing...), p.rest())
		}
		missing = append(missing[:i], missing[i+1:]...)
	}
}

// ExpectNone waits with [Settle] until what has been sent on the node of p is handled, and fails the test if p has a message
// then.
func (p *Probe) ExpectNone() {
	p.t.Helper()
	Settle(p.t, p.Node())
	if p.MailboxLen() > 0 {
		p.t.Fatalf("there should be no message\n%s", p.rest())
	}
}

// ExpectDown waits for the Down of a monitor, which says how the process has ended. Other messages stay.
//
//	ref := p.Monitor(pid)
//	n.Exit(pid, node.Kill)
//	require.Equal(t, node.Killed, p.ExpectDown(ref).Reason)
func (p *Probe) ExpectDown(ref node.Ref) node.Down {
	p.t.Helper()
	return p.next("the Down of the monitor", func(m any) bool {
		d, ok := m.(node.Down)
		return ok && d.Ref == ref
	}).(node.Down)
}

// next takes the oldest message that match, unless nil, accepts.
func (p *Probe) next(what string, match func(any) bool) any {
	p.t.Helper()
	m, err := p.ReceiveWithin(p.Timeout, match)
	if err != nil {
		p.t.Fatalf("%s has not come within %v: %v\n%s", what, p.Timeout, err, p.rest())
	}
	return m
}

// rest takes the remaining messages, for the text of a failure.
func (p *Probe) rest() string {
	var b strings.Builder
	for {
		m, err := p.ReceiveWithin(0, nil)
		if err != nil {
			break
		}
		b.WriteString("  " + show(m) + "\n")
	}
	if b.Len() == 0 {
		return "no other message is in the mailbox"
	}
	return "the other messages in the mailbox:\n" + b.String()
}

// show describes messages in the text of a failure.
func show(all ...any) string {
	var texts []string
	for _, m := range all {
		texts = append(texts, fmt.Sprintf("%T %+v", m, m))
	}
	return strings.Join(texts, ", ")
}
