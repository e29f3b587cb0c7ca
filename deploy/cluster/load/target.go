package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// change is a change of a connection.
type change struct {
	At     time.Time
	Up     bool
	Reason string // of a loss
}

// report has the observations of one target since the last report.
type report struct {
	Asked, Answered, Withheld int
	Failed                    map[string]int // calls, by error
	Slowest                   time.Duration  // of the answered calls
	GaveUp                    int            // calls that failed maxTries times, on different nodes

	Sent, Back, Skipped   int // Skipped: not sent, since the senders were blocked
	Lost, LostWithout     int // all missing messages, and those without a cause
	Reordered, Doubled    int
	Wrong                 int // replies and messages that differ from those sent
	Violations            []string
	Changes               []change
	Connected             bool
	LastAnswer, FirstBack time.Time // FirstBack: the first returned message after the last change
}

// target is a node that receives calls and messages.
type target struct {
	name node.Atom
	echo node.At

	others []*target // all targets, in the order of retries

	mu      sync.Mutex // guards the following
	report  report
	up      bool
	downs   int // number of ended connections
	flights int // calls in progress
	next    int // number of the next call
}

const (
	maxTries      = 5
	maxFlights    = 4000
	maxViolations = 100
	maxChanges    = 200
	callTimeout   = 10 * time.Second
	pace          = 10 * time.Millisecond
	retry         = 100 * time.Millisecond // between attempts to connect
)

// newTarget connects to the node, and monitors its connection.
func newTarget(n *node.Node, name node.Atom) (*target, error) {
	t := &target{name: name, echo: node.At{Name: "echo", Node: name}, report: report{Failed: make(map[string]int)}}
	_, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error { // until the process ends
		p.MonitorNodes()
		p.MonitorNode(name)
		for {
			switch m := p.Receive().(type) {
			case node.NodeUp:
				if m.Node == name {
					t.changed(change{At: time.Now(), Up: true})
				}
			case node.NodeDown:
				if m.Node != name {
					continue
				}
				t.changed(change{At: time.Now(), Reason: m.Reason})
				if _, err := p.ReceiveWithin(retry, func(m any) bool {
					up, is := m.(node.NodeUp)
					return is && up.Node == name
				}); err == nil {
					t.changed(change{At: time.Now(), Up: true})
				}
				p.MonitorNode(name) // reconnects; after a failure the NodeDown comes at once
			}
		}
	}))
	return t, err
}

func (t *target) changed(c change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.Up && t.up {
		t.downs++
	}
	if c.Up != t.up {
		t.report.FirstBack = time.Time{}
	}
	if c.Up != t.up && len(t.report.Changes) < maxChanges {
		t.report.Changes = append(t.report.Changes, c)
	}
	t.up = c.Up
}

// take returns the report, and starts a new one.
func (t *target) take() report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.report
	r.Connected = t.up
	t.report = report{Failed: make(map[string]int)}
	return r
}

// violation records a violation. t.mu is held.
func (t *target) violation(format string, args ...any) {
	if len(t.report.Violations) < maxViolations {
		t.report.Violations = append(t.report.Violations, time.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
	}
}

// due computes the actions due at a pace; actions that could not be done in time are skipped.
type due struct {
	rate float64 // per second
	last time.Time
	rest float64
}

// now returns how many are due, at most those of a fifth of a second, and how many are skipped.
func (d *due) now(at time.Time) (n, skipped int) {
	if d.last.IsZero() {
		d.last = at
	}
	d.rest += at.Sub(d.last).Seconds() * d.rate
	d.last = at
	n = int(d.rest)
	d.rest -= float64(n)
	if most := int(d.rate/5) + 1; n > most {
		n, skipped = most, n-most
	}
	return n, skipped
}

// start starts the caller and the senders of the target.
func (t *target) start(n *node.Node, calls, sends float64, size int) error {
	const senders = 4
	for i := range senders {
		s := &sender{t: t, pace: due{rate: sends / senders}, first: time.Now(), name: i, payload: make([]byte, size)}
		if _, err := n.Spawn(s); err != nil {
			return err
		}
	}
	go t.call(n, calls) // until the process ends
	return nil
}

// call makes calls at the given rate.
func (t *target) call(n *node.Node, rate float64) {
	d := due{rate: rate}
	for now := range time.Tick(pace) {
		k, skipped := d.now(now)
		t.mu.Lock()
		t.report.Withheld += skipped
		for ; k > 0; k-- {
			if t.flights >= maxFlights {
				t.report.Withheld++
				continue
			}
			t.flights++
			t.next++
			t.report.Asked++
			go t.one(n, t.next)
		}
		t.mu.Unlock()
	}
}

// one makes one call, and retries it on other nodes while it fails, like a client with several servers.
func (t *target) one(n *node.Node, number int) {
	ok := t.try(n, number)
	for i := 1; !ok && i < maxTries; i++ {
		ok = t.others[i%len(t.others)].try(n, number)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flights--
	if !ok {
		t.report.GaveUp++
	}
}

// try makes one attempt of a call.
func (t *target) try(n *node.Node, number int) (ok bool) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	got, err := node.Call[any](ctx, n, t.echo, wire.Tuple{wire.Atom("call"), number})
	t.mu.Lock()
	defer t.mu.Unlock()
	switch v, is := got.(wire.Tuple); {
	case err != nil:
		t.report.Failed[kind(err)]++
	case !is || len(v) != 2 || !isNumber(v[1], number):
		t.report.Wrong++
		t.violation("call %d was answered %v", number, got)
	default:
		t.report.Answered++
		t.report.LastAnswer = time.Now()
		t.report.Slowest = max(t.report.Slowest, time.Since(began))
	}
	return err == nil
}

func isNumber(v any, want int) bool {
	n, ok := wire.AsInt(v)
	return ok && n == int64(want)
}

// kind is the category of an error in the report.
func kind(err error) string {
	var exit *node.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, node.ErrNoConnection):
		return "noconnection"
	case errors.Is(err, node.ErrNoProcess):
		return "noproc"
	case errors.As(err, &exit):
		return exit.Error()
	}
	return err.Error()
}
