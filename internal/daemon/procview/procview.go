// Package procview says what a process is in OTP's words: what it runs, what it is taken to need,
// and the processes that have started it. What OTP's tools are shown (package otp) and what the
// operator's service shows (package admin) comes from here.
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

// behaviours are the packages whose processes answer system messages, with the
// behaviour of OTP that they are, and where that waits for messages.
var behaviours = map[string]struct {
	module wire.Atom
	loop   wire.Tuple
}{
	"node/genserver": {"gen_server", mfa("gen_server", "loop", 7)},
	"node/statem":    {"gen_statem", mfa("gen_statem", "loop_receive", 3)},
	"node/event":     {"gen_event", mfa("gen_event", "fetch_msg", 6)},
	"supervisor":     {"supervisor", mfa("gen_server", "loop", 7)},
}

// suspended is where a process of OTP's behaviours waits that sys:suspend has suspended, and
// suspension what its behaviour has after its name here.
var suspended = mfa("sys", "suspend_loop_hib", 6)

const suspension = " (suspended)"

const module = "github.com/actornode/actornode/"

// Program is what a process runs, in OTP's words.
type Program struct {
	Kind    wire.Atom  // gen_server, supervisor, …; "": none of OTP's behaviours
	Initial wire.Tuple // {Module, Function, Arity} it began with
	Current wire.Tuple
}

// ProgramOf finds out what a process runs.
func ProgramOf(i *observe.Process) Program {
	name := strings.TrimPrefix(i.Behaviour, "*")
	path, own := strings.CutPrefix(i.Code, module)
	if own && path == "internal/sysmsg" {
		m := wire.AtomOf(strings.TrimSuffix(name, suspension))
		p := Program{Initial: mfa(m, "init", 1), Current: suspended} // wherever it is: sys answers before it waits
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

// Bytes is what a process is taken to need.
func Bytes(i *observe.Process) int {
	size := processBytes
	if i.Stage >= 0 {
		size = actorBytes
	}
	return size + messageBytes*i.Mailbox
}

// person is how a process is called among ancestors: by name if it has one.
func person(i *observe.Process) any {
	if i.Name != "" {
		return i.Name
	}
	return i.PID
}

// Ancestors are the process that has started this one, the one that has started
// that, and so on: names or PIDs, 32 at most.
func Ancestors(n *node.Node, i observe.Process) wire.List {
	l := wire.List{}
	for len(l) < maxAncestors && !i.Parent.IsZero() {
		i, _ = n.Info(i.Parent)
		l = append(l, person(&i))
	}
	return l
}

// Metrics reads counters of Go's runtime without stopping it; one that it does not
// have is 0.
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
