// Package procview describes a process in OTP's terms: the function it runs, its estimated memory, and its ancestors. OTP's
// tools (package otp) and the operator's service (package admin) show these descriptions.
//
// # Goroutines
//
// None.
package procview

import (
	"math"
	"runtime/metrics"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Estimates of the memory of a process, in bytes: Go does not report memory by owner.
const (
	actorBytes   = 256
	processBytes = 4096 // with a goroutine and its stack
	messageBytes = 64
)

// maxAncestors is how many ancestors of a process are shown.
const maxAncestors = 32

// mfa is {Module, Function, Arity}.
func mfa(m, f wire.Atom, arity int) wire.Tuple { return wire.Tuple{m, f, arity} }

// behaviours maps the packages whose processes answer system messages to the OTP behaviour that they implement and the
// function where it waits for messages.
var behaviours = map[string]struct {
	module wire.Atom
	loop   wire.Tuple
}{
	"node/genserver": {"gen_server", mfa("gen_server", "loop", 7)},
	"node/statem":    {"gen_statem", mfa("gen_statem", "loop_receive", 3)},
	"node/event":     {"gen_event", mfa("gen_event", "fetch_msg", 6)},
	"node/keyed":     {"supervisor", mfa("gen_server", "loop", 7)},
	"supervisor":     {"supervisor", mfa("gen_server", "loop", 7)},
}

// suspended is the function where a process of an OTP behaviour waits after sys:suspend, and suspension is the suffix of
// its behaviour here.
var suspended = mfa("sys", "suspend_loop_hib", 6)

const suspension = " (suspended)"

const module = "github.com/actornode/actornode/"

// Program describes the program of a process in OTP's terms.
type Program struct {
	Kind    wire.Atom  // gen_server, supervisor, …, or "" if not an OTP behaviour
	Initial wire.Tuple // {Module, Function, Arity} it started with
	Current wire.Tuple
}

// ProgramOf returns the program of a process.
func ProgramOf(i *observe.Process) Program {
	name := strings.TrimPrefix(i.Behaviour, "*")
	path, own := strings.CutPrefix(i.Code, module)
	if own && path == "internal/sysmsg" {
		m := wire.AtomOf(strings.TrimSuffix(name, suspension))
		p := Program{Initial: mfa(m, "init", 1), Current: suspended} // even if not there yet: sys answers before it waits
		for _, b := range behaviours {
			if b.module == m {
				p.Kind = m
			}
		}
		return p
	}
	if b, ok := behaviours[path]; own && ok {
		p := Program{b.module, mfa(wire.AtomOf(name), "init", 1), b.loop}
		if i.State == observe.Running {
			p.Current = mfa(wire.AtomOf(name), "handle", 2)
		}
		return p
	}
	if name == "node.ActorFunc" || name == "node.ProcessFunc" { // path.of/pkg.function
		pkg, fn, _ := strings.Cut(i.Code[strings.LastIndexByte(i.Code, '/')+1:], ".")
		arity := 1
		if name == "node.ActorFunc" {
			arity = 2
		}
		f := mfa(wire.AtomOf(pkg), wire.AtomOf(fn), arity)
		return Program{Initial: f, Current: f}
	}
	m := wire.AtomOf(name)
	return Program{Initial: mfa(m, "init", 1), Current: mfa(m, "Receive", 2)}
}

// Bytes estimates the memory of a process.
func Bytes(i *observe.Process) int {
	size := processBytes
	if i.Stage >= 0 {
		size = actorBytes
	}
	return size + messageBytes*i.Mailbox
}

// person returns the name of a process for a list of ancestors, or its PID if it has none.
func person(i *observe.Process) any {
	if i.Name != "" {
		return i.Name
	}
	return i.PID
}

// Ancestors returns the parent of the process, the parent of the parent, and so on: names or PIDs, at most 32.
func Ancestors(n *node.Node, i observe.Process) wire.List {
	l := wire.List{}
	for len(l) < maxAncestors && !i.Parent.IsZero() {
		i, _ = n.Info(i.Parent)
		l = append(l, person(&i))
	}
	return l
}

// Metrics reads counters of Go's runtime without stopping it. A counter that the runtime lacks is 0.
func Metrics(names ...string) []int {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values := make([]int, len(names))
	for i, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			values[i] = int(min(s.Value.Uint64(), math.MaxInt64))
		}
	}
	return values
}
