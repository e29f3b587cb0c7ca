package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// Event is a message to the process of a browser, from any node, and in JSON to the browser. It is one of three: what somebody
// has said, who is in the room, or how many events the browser has missed.
type Event struct {
	From   string   `json:"from,omitempty"`
	Text   string   `json:"text,omitempty"`
	Who    []string `json:"who,omitempty"`
	Missed int64    `json:"missed,omitempty"`
}

func init() { node.RegisterTypes(node.TypeOf[Event]("chat.Event")) } // it goes to other nodes

// Any term names a group. The process of a browser joins two: members of a room get what is said there, and the names of the
// groups of persons are the list of those present. A node that dies takes its processes out of both, on all other nodes.
func roomOf(room string) any         { return wire.Tuple{wire.Atom("room"), room} }
func personOf(room, name string) any { return wire.Tuple{wire.Atom("person"), room, name} }

// say sends a text to all in a room, on all nodes.
func (c *chat) say(n *node.Node, room, from, text string) {
	for pid := range c.scope.Each(roomOf(room)) {
		n.Send(pid, Event{From: from, Text: text}) // waits while a node is slow; if it is gone, so is the message
	}
}

// people tells the browsers of its node who is in their room.
type people struct {
	*chat
	rooms   map[string]map[string]int // room → name → connections with that name
	changed map[string]bool           // rooms whose browsers are to be told
}

// Names asks the server people for the names in a room.
type Names struct {
	genserver.Returns[[]string]
	Room string
}

type flush struct{}

// quiet is how long changes are collected: a thousand that come together make one list, not a thousand.
const quiet = 50 * time.Millisecond

func (p *people) Init(c *genserver.Context) error {
	p.rooms, p.changed = map[string]map[string]int{}, map[string]bool{}
	_, groups, err := p.scope.MonitorScope(c.Context(), c)
	if err != nil {
		return fmt.Errorf("monitoring the rooms: %w", err)
	}
	for _, g := range groups {
		if err := p.change(c, pg.Change{Join: true, Group: g.Group, PIDs: g.PIDs}); err != nil {
			return err
		}
	}
	return nil
}

// change handles that processes have joined or left a group, or are gone with their node.
func (p *people) change(c *genserver.Context, m pg.Change) error {
	group, ok := m.Group.(wire.Tuple)
	if !ok || len(group) != 3 || group[0] != wire.Atom("person") {
		return nil
	}
	room, _ := wire.AsText(group[1])
	name, _ := wire.AsText(group[2])
	names := p.rooms[room]
	if names == nil {
		names = map[string]int{}
		p.rooms[room] = names
	}
	if m.Join {
		names[name] += len(m.PIDs)
	} else {
		names[name] -= len(m.PIDs)
	}
	if names[name] == 0 {
		delete(names, name)
	}
	if len(names) == 0 {
		delete(p.rooms, room)
	}
	if len(p.changed) == 0 {
		if _, err := c.SendAfter(quiet, c.Self(), flush{}); err != nil {
			return fmt.Errorf("starting a timer: %w", err)
		}
	}
	p.changed[room] = true
	return nil
}

// flush tells the browsers of this node; other nodes tell theirs.
func (p *people) flush(c *genserver.Context, _ flush) error {
	for room := range p.changed {
		names := p.names(room)
		for _, pid := range p.scope.LocalMembers(roomOf(room)) {
			c.Send(pid, Event{Who: names})
		}
	}
	clear(p.changed)
	return nil
}

func (p *people) names(room string) []string { return slices.Sorted(maps.Keys(p.rooms[room])) }

func (p *people) asked(_ *genserver.Context, q Names) ([]string, error) { return p.names(q.Room), nil }

var peoples = genserver.Define(genserver.OnCall((*people).asked),
	genserver.OnInfo((*people).change), genserver.OnInfo((*people).flush))
