package netem

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const packets = 10000

// Each rule has its effect on its share of packets, and no other effect.
func TestLine(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name                       string
		rule                       Rule
		lost, changed, early, late float64 // shares; early and late: before and after the delay
	}{
		{name: "nothing"},
		{name: "cut", rule: Rule{Loss: 1}, lost: 1},
		{name: "loss", rule: Rule{Loss: 0.2}, lost: 0.2},
		{name: "corruption", rule: Rule{Corrupt: 0.1}, changed: 0.1},
		{name: "delay", rule: Rule{Delay: time.Second}},
		{name: "jitter", rule: Rule{Delay: time.Second, Jitter: time.Second / 2}, early: 0.5, late: 0.5},
		{name: "reorder", rule: Rule{Delay: time.Second, Reorder: 0.25}, early: 0.25},
	} {
		l := &line{rule: c.rule, random: rand.New(rand.NewPCG(1, 2))}
		var lost, changed, early, late float64
		for range packets {
			sent := bytes.Repeat([]byte{7}, 100)
			at, isChanged, ok := l.pass(now, sent)
			assert.Equal(t, isChanged, !bytes.Equal(sent, bytes.Repeat([]byte{7}, 100)), c.name)
			assert.Equal(t, bytes.Repeat([]byte{7}, headers), sent[:headers], c.name)
			switch wait := at.Sub(now); {
			case !ok:
				lost++
				continue
			case wait < c.rule.Delay:
				early++
			case wait > c.rule.Delay:
				late++
			}
			assert.LessOrEqual(t, at.Sub(now), c.rule.Delay+c.rule.Jitter)
			if isChanged {
				changed++
			}
		}
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"lost", lost, c.lost}, {"changed", changed, c.changed}, {"early", early, c.early}, {"late", late, c.late}} {
			assert.InDelta(t, x.want, x.got/packets, 0.02, c.name+" "+x.what)
		}
	}
}

// Packets take the time that the bandwidth gives, stay in order, and are lost if they do not fit into the backlog.
func TestLineRate(t *testing.T) {
	now := time.Unix(1000, 0)
	l := &line{rule: Rule{Rate: 1_000_000, Backlog: 10_000}, random: rand.New(rand.NewPCG(1, 2))}
	var last time.Time
	passed := 0
	for range 100 { // 125,000 bytes at once
		at, _, ok := l.pass(now, make([]byte, 1250)) // 10 ms
		if !ok {
			continue
		}
		passed++
		assert.Equal(t, now.Add(time.Duration(passed)*10*time.Millisecond), at)
		assert.True(t, at.After(last))
		last = at
	}
	assert.Equal(t, 9, passed, "10,000 bytes and the one that is being sent")
	_, _, ok := l.pass(now.Add(time.Second), make([]byte, 1250))
	assert.True(t, ok, "the backlog is empty again")
}

func TestRule(t *testing.T) {
	assert.NoError(t, Rule{Loss: 1, Corrupt: 0.5, Delay: 1, Jitter: 1, Rate: 1, Backlog: 1}.validate())
	for _, r := range []Rule{{Loss: -0.1}, {Loss: 1.1}, {Corrupt: 2}, {Reorder: -1}, {Delay: -1}, {Jitter: 1},
		{Rate: -1}, {Backlog: -1}} {
		assert.Error(t, r.validate(), "%+v", r)
	}
}
