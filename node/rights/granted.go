package rights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/actornode/actornode/wire"
)

// Granted is what a node may do. It never changes. A nil *Granted is everything: there is no policy.
type Granted struct {
	Rule int // the number of the rule that says so, from 1; 0: none, or there are no rules

	of    *set
	words [kinds]bool // what is granted for everything that it is for
	names [kinds][]wire.Atom
	runs  [kinds][]run
}

// kind is one of the words that a right begins with.
type kind uint8

const (
	connect kind = iota
	send
	call
	spawn
	rpc
	signal
	look
	act
	trace
	profile
	kinds
)

// words are the kinds as texts.
var words = [kinds]string{"connect", "send", "call", "spawn", "rpc", "signal", "admin_read", "admin_act", "trace", "profile"}

// run is what may be started or called by name.
type run struct {
	wire.Export
	all bool // of the module
}

func (r run) String() string {
	if r.all {
		return string(r.Module) + ":*"
	}
	return fmt.Sprintf("%s:%s/%d", r.Module, r.Function, r.Arity)
}

// everything is what all may where there are no rules, or a rule says all.
func everything(rule int) *Granted {
	g := &Granted{Rule: rule}
	for k := range g.words {
		g.words[k] = true
	}
	return g
}

// Connect reports whether the node may be connected.
func (g *Granted) Connect() bool { return g == nil || g.words[connect] }

// Send reports whether the node may send messages to the process with that registered name; "": to one that has none.
func (g *Granted) Send(name wire.Atom) bool { return g.to(send, name) }

// Call reports whether the node may call the process with that registered name; "": one that has none.
func (g *Granted) Call(name wire.Atom) bool { return g.to(call, name) }

func (g *Granted) to(k kind, name wire.Atom) bool {
	return g == nil || g.words[k] || name != "" && slices.Contains(g.names[k], name)
}

// Spawn reports whether the node may start a process by module, function and arity.
func (g *Granted) Spawn(e wire.Export) bool { return g.run(spawn, e) }

// RPC reports whether the node may call a function.
func (g *Granted) RPC(e wire.Export) bool { return g.run(rpc, e) }

func (g *Granted) run(k kind, e wire.Export) bool {
	return g == nil || g.words[k] || slices.ContainsFunc(g.runs[k], func(r run) bool {
		return r.Export == e || r.all && r.Module == e.Module
	})
}

// Signal reports whether the node may end processes: by exit signals and links.
func (g *Granted) Signal() bool { return g == nil || g.words[signal] }

// Look reports whether the node may be shown what the operator's service shows but messages.
func (g *Granted) Look() bool { return g == nil || g.words[look] }

// Act reports whether the node may change something by the operator's service.
func (g *Granted) Act() bool { return g == nil || g.words[act] }

// Trace reports whether the node may be shown messages by the operator's service.
func (g *Granted) Trace() bool { return g == nil || g.words[trace] }

// Profile reports whether the node may be shown stacks and profiles by the operator's service, which costs CPU.
func (g *Granted) Profile() bool { return g == nil || g.words[profile] }

// String lists the rights, with commas: "none" if there are none, "all" if none is missing.
func (g *Granted) String() string {
	if g == nil || g.words == everything(0).words {
		return "all"
	}
	var all []string
	for k, word := range words {
		if g.words[k] {
			all = append(all, word)
			continue
		}
		for _, name := range g.names[k] {
			all = append(all, word+" "+string(name))
		}
		for _, r := range g.runs[k] {
			all = append(all, word+" "+r.String())
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
