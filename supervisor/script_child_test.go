package supervisor_test

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

const (
	module wire.Atom = "supervision"
	goCode wire.Atom = "github.com/actornode/actornode/supervisor_test" // the module of a Start in this package
)

// supDef is a supervisor as a script defines it.
type supDef struct {
	name  string
	flags any
	init  any // nil: init/1 returns flags and children
	below []string
}

// childDef is a child as a script defines it.
type childDef struct {
	name   string
	starts []string
	ends   string // "": it does not trap exits
	sup    string
}

// define reads a sup line.
func (p *play) define(text string, below []string) {
	words := strings.Fields(text)
	d := &supDef{name: words[0], below: below}
	keys := wire.NewMap()
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "flags":
			d.flags = p.term(value)
		case "init":
			d.init = p.term(value)
		default:
			keys.Put(wire.Atom(key), p.term(value))
		}
	}
	if d.flags == nil {
		d.flags = keys
	}
	p.defs[d.name] = d
}

// child reads a CHILD: the answer is a specification as Erlang writes it.
func (p *play) child(text string) any {
	if raw, ok := strings.CutPrefix(text, "raw "); ok {
		return p.term(raw)
	}
	words := strings.Fields(text)
	d := &childDef{name: words[0], starts: []string{"ok"}}
	spec := wire.NewMap(wire.Atom("id"), wire.Atom(d.name), wire.Atom("start"),
		wire.Tuple{module, wire.Atom("start"), wire.List{len(p.kids)}})
	p.kids = append(p.kids, d)
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case w[0] == '-':
			spec.Delete(wire.Atom(w[1:]))
		case w == "traps":
			d.ends = "obeys"
		case key == "ends":
			d.ends = value
		case key == "starts":
			d.starts = strings.Split(value, "|")
		case key == "sup":
			d.sup = value
		default:
			spec.Put(wire.Atom(key), p.term(value))
		}
	}
	return spec
}

// inGo replaces the name of an exported behaviour with a function, unless the script is played as Erlang does.
func (p *play) inGo(k supervisor.Child) supervisor.Child {
	if p.terms || k.Named.Module != module {
		return k
	}
	d := p.kids[k.Named.Args[0].(int)]
	k.Named = supervisor.Named{}
	k.Start = func(args ...any) (node.Actor, error) { return p.start(d, args) }
	return k
}

// termError is an error that has a term.
type termError struct{ term any }

func (e *termError) Error() string { return fmt.Sprint(e.term) }
func (e *termError) Term() any     { return e.term }

// start does what Start does.
func (p *play) start(d *childDef, args []any) (node.Actor, error) {
	turn := min(p.turns[d.name], len(d.starts)-1)
	p.turns[d.name]++
	outcome := d.starts[turn]
	what, text, _ := strings.Cut(outcome, ":")
	switch what {
	case "exit", "crash":
		p.fails(d, args, outcome)
		panic(p.term(text))
	case "bad":
		p.fails(d, args, outcome)
		return nil, &termError{p.term(text)}
	case "error":
		if !p.inInit {
			p.fails(d, args, outcome)
			return nil, node.ExitWith(p.term(text))
		}
	case "ignore":
		if !p.inInit {
			p.fails(d, args, outcome)
			return nil, node.ErrIgnore
		}
	case "ok":
		if d.sup != "" {
			return &observed{p: p, def: p.defs[d.sup], child: d.name}, nil
		}
	}
	return &scriptedChild{p: p, def: d, args: args, outcome: outcome}, nil
}

// fails records the end of a start.
func (p *play) fails(d *childDef, args []any, outcome string) {
	p.record("start " + d.name + p.showArgs(args) + ": " + outcome)
}

// scriptedChild is a child of a script.
type scriptedChild struct {
	p       *play
	def     *childDef
	args    []any
	outcome string // its remaining outcome while it is held
	life    *childRun
	last    any // the reason that it exits with when it is released
}

func (u *scriptedChild) Init(c *node.Context) error {
	u.life = u.p.watch(c, aScriptedChild)
	return u.begin(c)
}

func (u *scriptedChild) begin(c *node.Context) error {
	what, text, _ := strings.Cut(u.outcome, ":")
	switch what {
	case "hold":
		u.outcome = text
		u.p.hold(u.def.name, c.Self(), c.Parent())
		return node.ErrPending
	case "ok":
		c.TrapExit(u.def.ends != "")
		u.p.registerName(u.life, u.def.name)
		u.p.record("started " + u.life.name + u.p.showArgs(u.args))
		return nil
	case "ignore":
		u.p.fails(u.def, u.args, u.outcome)
		return node.ErrIgnore
	}
	u.p.fails(u.def, u.args, u.outcome)
	return node.ExitWith(u.p.term(text))
}

func (u *scriptedChild) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case doExit:
		return u.down(m.reason)
	case doUnlink:
		c.Unlink(c.Parent())
	case doRelease:
		if u.life.name != "" {
			return u.down(u.last)
		}
		if err := u.begin(c); err != nil {
			return err
		}
		c.Announce()
	case node.Exited:
		if m.From == c.Parent() && u.def.ends != "deaf" {
			return u.told(c, m.Reason)
		}
	}
	return nil
}

// told obeys the supervisor, or does not.
func (u *scriptedChild) told(c *node.Context, reason any) error {
	u.p.mu.Lock()
	u.p.trace = append(u.p.trace, "told "+u.life.name+" "+u.p.show(reason))
	u.p.mu.Unlock()
	what, text, _ := strings.Cut(u.def.ends, ":")
	switch {
	case u.last != nil: // it is held
	case what == "obeys":
		return u.down(reason)
	case what == "exit":
		return u.down(u.p.term(text))
	case what == "hold":
		u.last = u.p.term(text)
		u.p.hold(u.life.name, c.Self(), c.Parent())
	}
	return nil
}

func (u *scriptedChild) down(reason any) error {
	u.p.mu.Lock()
	u.life.reported = true
	u.p.trace = append(u.p.trace, "down "+u.life.name+" "+u.p.show(reason))
	u.p.mu.Unlock()
	return node.ExitWith(reason)
}

// observed is a supervisor that records what happens to it and to supervisors among its children.
type observed struct {
	p     *play
	def   *supDef
	child string
	node.Actor
}

func (o *observed) Init(c *node.Context) error {
	l := o.p.watch(c, aSup)
	l.child = o.child
	o.p.registerName(l, o.def.name)
	if o.def.init == wire.Atom("ignore") {
		return node.ErrIgnore
	}
	var kids wire.List
	for _, b := range o.def.below {
		kids = append(kids, o.p.child(b))
	}
	spec, err := supervisor.ParseSpec(o.def.flags, kids)
	if err != nil {
		return node.ExitWith(values.ErrorTerm(err))
	}
	for i, k := range spec.Children {
		spec.Children[i] = o.p.inGo(k)
	}
	o.Actor = supervisor.New(spec)
	return o.Actor.(node.Initializer).Init(c)
}

func (o *observed) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[watched]:
		return nil
	case node.Started:
		o.heard(c, m.PID, m.Ignored, nil)
	case node.Exited:
		o.heard(c, m.From, false, m.Reason)
	}
	return o.Actor.Receive(c, msg)
}

// heard records the result of the start of a child that is a supervisor.
func (o *observed) heard(c *node.Context, pid node.PID, ignored bool, failure any) {
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.runs[pid]
	switch {
	case l == nil || l.kind != aSup || l.started || l.parent != c.Self():
		return
	case failure != nil:
		p.trace = append(p.trace, "start "+l.child+": "+p.show(wire.Tuple{wire.AtomError, failure}))
	case ignored:
		p.trace = append(p.trace, "start "+l.child+": ignore")
	default:
		p.trace = append(p.trace, "started "+l.name)
	}
	l.started = true
}
