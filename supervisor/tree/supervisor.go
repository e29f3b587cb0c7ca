package tree

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// words returns the names of the first n values of a type of package supervisor.
func words[T interface {
	~uint8
	String() string
}](n T) (all []string) {
	for v := range n {
		all = append(all, v.String())
	}
	return all
}

// supervisor reads a supervisor and all that is below it.
func (r *reader) supervisor(v at) (s supervisor.Spec, o node.Options) {
	var children at
	r.object(v,
		field{name: "name", read: func(v at) { o.Name, _ = r.name(v) }},
		field{name: "strategy", read: func(v at) {
			i, _ := r.choice(v, words(supervisor.SimpleOneForOne+1)...)
			s.Strategy = supervisor.Strategy(i)
		}},
		field{name: "intensity", read: func(v at) {
			var ok bool
			if s.Intensity, ok = r.integer(v, 0); ok && s.Intensity == 0 {
				s.Intensity = supervisor.NoRestarts
			}
		}},
		field{name: "period", read: func(v at) { s.Period, _ = r.duration(v) }},
		field{name: "auto_shutdown", read: func(v at) {
			i, _ := r.choice(v, words(supervisor.AllSignificant+1)...)
			s.AutoShutdown = supervisor.AutoShutdown(i)
		}},
		// Children are read last: what they may be depends on the rest.
		field{name: "children", read: func(v at) { children = v }},
	)
	if children.Node == nil {
		if s.Strategy == supervisor.SimpleOneForOne {
			v.path = join(v.path, "children")
			r.fail(v, "missing; simple_one_for_one needs one child, the model for those to come")
		}
		return s, o
	}
	var ids wire.Map
	type claim struct {
		line   int
		byName bool
	}
	r.list(children, func(_ int, v at) {
		before := len(r.errs)
		k, id := r.child(v, &s)
		if k.ID != nil {
			mine := claim{id.line, !strings.HasSuffix(id.path, ".id")}
			first, twice := ids.Get(k.ID)
			if !twice {
				ids.Put(k.ID, mine)
			} else if c := first.(claim); !c.byName || !mine.byName { // of two names it has been said already
				r.fail(id, "another child has the id %s, in line %d", cut(wire.Format(k.ID)), c.line)
			}
		}
		// What is wrong by supervisor's own rules, and not by those here, is not
		// to get through.
		if err := supervisor.CheckSpecs([]supervisor.Child{k}, s.AutoShutdown); err != nil && len(r.errs) == before {
			r.fail(v, "%v", err)
		}
		s.Children = append(s.Children, k)
	})
	if s.Strategy == supervisor.SimpleOneForOne && len(s.Children) != 1 {
		r.fail(children, "%d children; simple_one_for_one needs one, the model for those to come", len(s.Children))
	}
	return s, o
}

// child reads a child of s, and returns where its id is.
func (r *reader) child(v at, s *supervisor.Spec) (k supervisor.Child, id at) {
	var start wire.Export
	var startOK bool
	arity := 0
	got := r.object(v,
		field{name: "id", read: func(v at) { k.ID, _ = r.id(v) }},
		field{name: "name"},
		field{name: "start", read: func(v at) { start, startOK = r.function(v) }},
		field{name: "args", read: func(v at) {
			r.list(v, func(_ int, v at) {
				t, _ := r.term(v)
				k.Named.Args = append(k.Named.Args, t)
			})
			arity = len(k.Named.Args)
		}},
		field{name: "supervisor", read: func(v at) {
			nested, o := r.supervisor(v)
			k.Type, k.Options, k.Modules = supervisor.Supervisor, o, []wire.Atom{"supervisor"}
			k.Start = func(...any) (node.Actor, error) { return supervisor.New(nested), nil }
		}},
		field{name: "restart", read: func(v at) {
			i, _ := r.choice(v, words(supervisor.Temporary+1)...)
			k.Restart = supervisor.Restart(i)
		}},
		field{name: "shutdown", read: func(v at) {
			switch d, _ := r.duration(v, "brutal_kill", "infinity"); d {
			case -1:
				k.Shutdown = supervisor.BrutalKill
			case -2:
				k.Shutdown = supervisor.Infinity
			default:
				k.Shutdown = d
			}
		}},
		field{name: "type"},
		field{name: "significant", read: func(v at) { k.Significant = r.flag(v) }},
		field{name: "modules"},
		field{name: "backoff", read: func(v at) { k.Backoff = r.backoff(v) }},
	)
	if got == nil {
		return k, v
	}
	if _, is := got["supervisor"]; is {
		for _, f := range []string{"start", "args", "name", "modules"} {
			if w, there := got[f]; there && f == "name" {
				r.fail(w, "goes into supervisor, for a child that is one")
			} else if there {
				r.fail(w, "not for a child that is a supervisor")
			}
		}
	} else if w, there := got["start"]; !there {
		v := v
		v.path = join(v.path, "start")
		r.fail(v, "missing; want module:function of an exported behaviour, or supervisor in its place")
	} else if startOK {
		k.Named.Module, k.Named.Function = start.Module, start.Function
		start.Arity = arity
		r.resolve(w, start, s.Strategy == supervisor.SimpleOneForOne)
	}
	r.rest(&k, got)
	r.combinations(&k, s, got)
	return k, r.identify(&k, v, got)
}

// rest reads fields whose meaning depends on others.
func (r *reader) rest(k *supervisor.Child, got map[string]at) {
	isSupervisor := k.Type == supervisor.Supervisor
	if v, there := got["name"]; there && !isSupervisor {
		k.Options.Name, _ = r.name(v)
	}
	if v, there := got["type"]; there {
		i, ok := r.choice(v, words(supervisor.Supervisor+1)...)
		if ok && isSupervisor && i == int(supervisor.Worker) {
			r.fail(v, "worker; a child with the field supervisor is one")
		}
		if !isSupervisor {
			k.Type = supervisor.Type(i) // of a behaviour that supervises in its own way
		}
	}
	if v, there := got["modules"]; there && !isSupervisor {
		if v.Kind == yaml.ScalarNode && v.Value == "dynamic" {
			k.Modules = []wire.Atom{"dynamic"}
			return
		}
		k.Modules = []wire.Atom{}
		r.list(v, func(_ int, v at) {
			if m, ok := r.atom(v, "a module"); ok {
				k.Modules = append(k.Modules, m)
			}
		})
	}
}

// combinations checks what is right by itself but not together.
func (r *reader) combinations(k *supervisor.Child, s *supervisor.Spec, got map[string]at) {
	if v, there := got["significant"]; there && k.Significant {
		if s.AutoShutdown == supervisor.Never {
			r.fail(v, "impossible with auto_shutdown: never; set auto_shutdown of the supervisor to any_significant or all_significant")
		}
		if k.Restart == supervisor.Permanent {
			r.fail(v, "impossible with restart: permanent; want restart: transient or temporary")
		}
	}
	if k.Options.Name != "" && s.Strategy == supervisor.SimpleOneForOne {
		v, there := got["name"]
		if !there {
			v = got["supervisor"]
			v.path = join(v.path, "name")
		}
		r.fail(v, "impossible with strategy: simple_one_for_one; there may be many such children")
	}
	if v, there := got["backoff"]; there && k.Restart == supervisor.Temporary {
		r.fail(v, "useless with restart: temporary; want restart: permanent or transient")
	}
}

// identify makes sure that k has an id, and returns where it is.
func (r *reader) identify(k *supervisor.Child, v at, got map[string]at) at {
	if id, there := got["id"]; there {
		return id
	}
	name, named := got["name"]
	if k.Options.Name != "" {
		k.ID = k.Options.Name
	} else if !named {
		v.path = join(v.path, "id")
		r.fail(v, "missing; want id, or name, which is the id then")
	}
	if named {
		return name
	}
	return v
}

// id reads a child's id: text is an atom, all else what it is as a term.
func (r *reader) id(v at) (any, bool) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
		return r.atomText(v)
	}
	return r.term(v)
}

func (r *reader) backoff(v at) (b supervisor.Backoff) {
	var limit at
	r.object(v,
		field{name: "initial", required: true, read: func(v at) { b.Initial, _ = r.duration(v) }},
		field{name: "factor", read: func(v at) { b.Factor = r.float(v, 1, math.MaxFloat64) }},
		field{name: "max", read: func(v at) { b.Max, _ = r.duration(v); limit = v }},
		field{name: "jitter", read: func(v at) { b.Jitter = r.float(v, 0, 1) }},
		field{name: "reset", read: func(v at) { b.Reset, _ = r.duration(v) }},
	)
	if b.Max > 0 && b.Initial > b.Max {
		r.fail(limit, "%v; want initial, %v, at least", b.Max, b.Initial)
	}
	return b
}

// function reads module:function.
func (r *reader) function(v at) (wire.Export, bool) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
		if t, err := wire.Parse("fun " + v.Value + "/0"); err == nil {
			if e, ok := t.(wire.Export); ok && e.Module != "" && e.Function != "" {
				return e, true
			}
		}
	}
	r.fail(v, "want module:function, without arity: that is the number of args; %s", allowed("", r.exports(func(wire.Export) bool { return true })))
	return wire.Export{}, false
}

// resolve checks that a behaviour is exported, with its arity, or, if more
// arguments are to come, with any above it.
func (r *reader) resolve(v at, e wire.Export, more bool) {
	same := func(x wire.Export) bool { return x.Module == e.Module && x.Function == e.Function }
	if slices.ContainsFunc(r.known.Behaviours, func(x wire.Export) bool {
		return same(x) && (x.Arity == e.Arity || more && x.Arity > e.Arity)
	}) {
		return
	}
	if like := r.exports(same); len(like) > 0 {
		r.fail(v, "%s is not exported for %d args; %s", cut(text(e)), e.Arity, allowed("", like))
		return
	}
	all := r.exports(func(x wire.Export) bool { return x.Module == e.Module })
	if len(all) == 0 {
		all = r.exports(func(wire.Export) bool { return true })
	}
	if len(all) == 0 {
		r.fail(v, "%s is not exported; nothing is", cut(text(e)))
		return
	}
	r.fail(v, "%s is not exported; %s", cut(text(e)), allowed(text(e)+"/"+strconv.Itoa(e.Arity), all))
}

// exports lists those behaviours that want wants.
func (r *reader) exports(want func(wire.Export) bool) (all []string) {
	for _, x := range r.known.Behaviours {
		if want(x) {
			all = append(all, strings.TrimPrefix(x.String(), "fun "))
		}
	}
	return all
}

// text is module:function of e.
func text(e wire.Export) string {
	return wire.Format(e.Module) + ":" + wire.Format(e.Function)
}
