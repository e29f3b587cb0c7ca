package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// nearGraph is a value whose parts refer to each other.
type nearGraph struct {
	Name       string
	Next       *nearGraph
	Also       *nearGraph
	Data, Same []byte
	By         map[string]*nearGraph
	Any        any
}

// sharedPrograms are about what a message refers to several times.
var sharedPrograms = []program{
	{"a value whose parts refer to the same", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{sameIn(t[1].(*nearGraph), t[2].([]byte)), t[1], t[2]})
		}))
		data := bytes.Repeat([]byte("shared"), 20_000)
		leaf := &nearGraph{Name: "leaf"}
		g := &nearGraph{Name: "root", Next: leaf, Also: leaf, Data: data, Same: data, By: map[string]*nearGraph{"a": leaf}, Any: leaf}
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), g, data}))
		t := w.next().(wire.Tuple)
		w.say("there %s", t[0])
		w.say("here  %s", sameIn(t[1].(*nearGraph), t[2].([]byte)))
	}},
	{"a list that has a slice three times", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			l := msg.(wire.List)
			a, b, all := l[0].([]byte), l[2].([]byte), l[3].([]int)
			return c.Send(me, fmt.Sprint(&a[0] == &b[0], &all[0] == &l[4].(wire.Tuple)[0].([]int)[0]))
		}))
		b, all := bytes.Repeat([]byte("b"), 100_000), make([]int, 100)
		w.check(w.me.Send(pid, wire.List{b, b, b, all, wire.Tuple{all, 1}}))
		w.say("%s", show(w.next()))
	}},
	{"a value with errors in its fields", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{errors.Is(t[1].(*nearTrouble).Deep.All[0], io.EOF), t[1]})
		}))
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), newNearTrouble(2)}))
		t := w.next().(wire.Tuple)
		w.say("there %v", t[0])
		w.troubles(t[1].(*nearTrouble))
	}},
	{"errors deep in a message", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{errors.Is(t[1].([]error)[0], io.EOF), t[1], t[2], t[3]})
		}))
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), []error{fmt.Errorf("order 7: %w", io.EOF)}, map[string]error{"a": errNearNoCard},
			wire.List{nearLimitError{7, "orders"}}}))
		t := w.next().(wire.Tuple)
		w.say("there %v", t[0])
		w.blame(t[1].([]error)[0])
		w.say("no card %v", t[2].(map[string]error)["a"] == errNearNoCard)
		w.blame(t[3].(wire.List)[0].(error))
	}},
}

// nearTrouble has errors in its fields.
type nearTrouble struct {
	Err  error
	All  []error
	By   map[string]error
	Any  any
	Deep *nearTrouble
}

func newNearTrouble(depth int) *nearTrouble {
	t := &nearTrouble{
		Err: errNearSoldOut, All: []error{fmt.Errorf("order 7: %w", io.EOF), nil, errors.New("plain"), nearLimitError{7, "orders"}},
		By:  map[string]error{"a": errors.Join(errNearNoCard, nearLimitError{1, "cards"}), "b": &node.ExitError{Reason: node.Atom("why")}},
		Any: fmt.Errorf("any: %w", errNearSoldOut),
	}
	if depth > 0 {
		t.Deep = newNearTrouble(depth - 1)
	}
	return t
}

// troubles says what a program can find in t.
func (w *world) troubles(t *nearTrouble) {
	w.say("%v", t.Err == errNearSoldOut)
	for _, err := range append(t.All, t.Err, t.By["a"], t.By["b"], t.Any.(error)) {
		w.blame(err)
	}
	if t.Deep != nil {
		w.troubles(t.Deep)
	}
}

// sameIn says which of the parts of g are the same.
func sameIn(g *nearGraph, data []byte) string {
	var all []string
	for name, same := range map[string]bool{
		"Also": g.Also == g.Next, "By": g.By["a"] == g.Next, "Any": g.Any == any(g.Next), "Same": &g.Same[0] == &g.Data[0],
		"data": &g.Data[0] == &data[0],
	} {
		if !same {
			all = append(all, name)
		}
	}
	return "not the same: " + strings.Join(all, " ")
}
