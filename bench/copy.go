package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
)

var copying = contract.Bench{
	Name:   "copy",
	About:  "messages that are copied when they are sent, beside messages that are copied by hand",
	Params: []contract.Param{contract.Int("messages", 300_000), contract.Style()},
	Ops:    func(p contract.Params) int { return len(parcels()) * copyRounds * copyEach(p) },
	Run:    runCopy,
}

// copyRounds is how often the two alternate, for each kind of message.
const copyRounds = 100

// copyEach is the number of messages of a kind per round.
func copyEach(p contract.Params) int {
	return max(p.Int("messages")/(copyRounds*len(parcels())), 1)
}

// The copied messages.
type (
	contact struct {
		Name, Street, City string
		Number, Visits     int
	}
	item struct {
		Name         string
		Count, Price int
	}
	basket struct {
		Number int
		Items  []item
		Notes  map[string]string
	}
	branch struct {
		Key         int
		Text        string
		Left, Right *branch
	}
)

func (c *contact) byHand() any {
	now := *c
	return &now
}

func (b *basket) byHand() any {
	now := *b
	now.Items, now.Notes = slices.Clone(b.Items), maps.Clone(b.Notes)
	return &now
}

func (b *branch) byHand() any { return b.clone() }

func (b *branch) clone() *branch {
	if b == nil {
		return nil
	}
	now := *b
	now.Left, now.Right = b.Left.clone(), b.Right.clone()
	return &now
}

func newTree(depth int) *branch {
	if depth == 0 {
		return nil
	}
	return &branch{Key: depth, Text: "text", Left: newTree(depth - 1), Right: newTree(depth - 1)}
}

// parcel is a kind of message.
type parcel struct {
	name string
	v    interface{ byHand() any }
}

func parcels() []parcel {
	notes := map[string]string{"gift": "yes", "paper": "red", "by": "Monday", "ring": "twice"}
	return []parcel{
		{"flat", &contact{Name: "Ada", Street: "Main Street", City: "Leeds", Number: 7, Visits: 3}},
		{"slices", &basket{Number: 1, Items: slices.Repeat([]item{{"tea", 2, 300}}, 10), Notes: notes}},
		{"tree", newTree(7)}, // 127 nodes
	}
}

// runCopy runs rounds for each kind of message: it is copied by plan and by hand; then it is sent with a copy made by the
// node, and with one made by hand. Only the copies and sends of the node count as the bench's own time.
func runCopy(p contract.Params, m *contract.Meter) error {
	each := copyEach(p)
	return onNode(p, func(main *node.Process) error {
		to := must(main.Spawn(counting(p.Blocking(), main.Self(), each)))
		answered := func() error { node.ReceiveOf[answer](main); return nil }
		for _, c := range parcels() {
			if err := apartFrom(c.v); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			var copies, sends, times []float64
			for range copyRounds {
				plan := timed(each, func() error {
					now, err := isolation.Copy[any](c.v)
					runtime.KeepAlive(now)
					return err
				})
				hand := timed(each, func() error {
					runtime.KeepAlive(c.v.byHand())
					return nil
				})
				sent := timed(each, func() error { return main.SendOpt(node.SendOptions{Copy: true}, to, c.v) }) + timed(1, answered)
				other := timed(each, func() error { return main.Send(to, c.v.byHand()) }) + timed(1, answered)
				m.Charge(sent)
				copies = append(copies, float64(plan)/float64(max(hand, 1)))
				sends = append(sends, float64(sent)/float64(max(other, 1)))
				times = append(times, float64(hand)/float64(each))
			}
			m.Extra(c.name+"_ratio", middle(copies))
			m.Extra(c.name+"_sent_ratio", middle(sends))
			m.Extra(c.name+"_by_hand_ns", middle(times))
		}
		return nil
	})
}

// timed returns how long n calls take. An error ends the program.
func timed(n int, f func() error) time.Duration {
	began := time.Now()
	for range n {
		if err := f(); err != nil {
			panic(err)
		}
	}
	return time.Since(began)
}

// middle returns the median.
func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// counting makes an actor that notifies main after each round when all its messages have arrived.
func counting(blocking bool, main node.PID, each int) node.Actor {
	got := 0
	count := func(from acting) error {
		if got++; got%each != 0 {
			return nil
		}
		return from.Send(main, answer{got})
	}
	if !blocking {
		return node.ActorFunc(func(c *node.Context, _ any) error { return count(c) })
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			p.Receive()
			if err := count(p); err != nil {
				return err
			}
		}
	})
}

// apartFrom fails unless both copies of a value are equal to it and share no mutable data with it.
func apartFrom(v interface{ byHand() any }) error {
	byPlan, err := isolation.Copy[any](v)
	if err != nil {
		return err
	}
	for _, now := range []any{byPlan, v.byHand()} {
		if !reflect.DeepEqual(now, any(v)) {
			return errors.New("a copy is not equal to the message")
		}
		if met := places(reflect.ValueOf(now), nil); slices.ContainsFunc(places(reflect.ValueOf(v), nil),
			func(p uintptr) bool { return slices.Contains(met, p) }) {
			return errors.New("a copy shares memory with the message")
		}
	}
	return nil
}

// places appends the targets of all pointers, slices and maps in a value.
func places(v reflect.Value, all []uintptr) []uintptr {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			all = places(v.Elem(), append(all, v.Pointer()))
		}
	case reflect.Map:
		all = append(all, v.Pointer())
	case reflect.Slice:
		all = append(all, v.Pointer())
		for i := range v.Len() {
			all = places(v.Index(i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = places(v.Field(i), all)
		}
	}
	return all
}
