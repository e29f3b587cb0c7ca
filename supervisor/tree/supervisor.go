package tree

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// choice reads one of the words all, and returns the first after an error.
func choice[T ~string](r *reader, v at, all ...T) (T, bool) {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	i, ok := r.Choice(v, words...)
	return all[i], ok
}

// supervisor reads a supervisor and everything below it.
func (r *reader) supervisor(v at) (s supervisor.Spec, o node.Options) {
	var children at
	r.Object(v,
		field{Name: "name", Read: func(v at) { o.Name, _ = r.name(v) }},
		field{Name: "global", Read: func(v at) { r.global(v, &o) }},
		field{Name: "strategy", Read: func(v at) {
			s.Strategy, _ = choice(r, v, supervisor.OneForOne, supervisor.OneForAll, supervisor.RestForOne, supervisor.SimpleOneForOne)
		}},
		field{Name: "intensity", Read: func(v at) {
			var ok bool
			if s.Intensity, ok = r.Integer(v, 0); ok && s.Intensity == 0 {
				s.Intensity = supervisor.NoRestarts
			}
		}},
		field{Name: "period", Read: func(v at) { s.Period, _ = r.Duration(v) }},
		field{Name: "auto_shutdown", Read: func(v at) {
			s.AutoShutdown, _ = choice(r, v, supervisor.Never, supervisor.AnySignificant, supervisor.AllSignificant)
		}},
		// Children are read last, because their checks depend on the other fields.
		field{Name: "children", Read: func(v at) { children = v }},
	)
	if children.Node == nil {
		if s.Strategy == supervisor.SimpleOneForOne {
			v.Path = strict.Join(v.Path, "children")
			r.Fail(v, "missing; simple_one_for_one needs one child, the template for the children to start")
		}
		return s, o
	}
	var ids wire.Map
	type claim struct {
		line   int
		byName bool
	}
	r.List(children, func(_ int, v at) {
		before := r.Failures()
		k, id := r.child(v, &s)
		if k.ID != nil {
			mine := claim{id.Line, !strings.HasSuffix(id.Path, ".id")}
			first, twice := ids.Get(k.ID)
			if !twice {
				ids.Put(k.ID, mine)
			} else if c := first.(claim); !c.byName || !mine.byName { // two equal names have been reported already
				r.Fail(id, "the id %s is already used by the child in line %d", strict.Cut(wire.Format(k.ID)), c.line)
			}
		}
		// This catches errors that package supervisor detects and the checks here do not.
		if err := supervisor.CheckSpecs([]supervisor.Child{k}, s.AutoShutdown); err != nil && r.Failures() == before {
			r.Fail(v, "%v", err)
		}
		s.Children = append(s.Children, k)
	})
	if s.Strategy == supervisor.SimpleOneForOne && len(s.Children) != 1 {
		r.Fail(children, "%d children; simple_one_for_one needs one, the template for the children to start", len(s.Children))
	}
	return s, o
}

// child reads a child of s, and returns the position of its id.
func (r *reader) child(v at, s *supervisor.Spec) (k supervisor.Child, id at) {
	var start wire.Export
	var startOK bool
	arity := 0
	got := r.Object(v,
		field{Name: "id", Read: func(v at) { k.ID, _ = r.id(v) }},
		field{Name: "name"},
		field{Name: "global"},
		field{Name: "start", Read: func(v at) { start, startOK = r.function(v) }},
		field{Name: "args", Read: func(v at) {
			r.List(v, func(_ int, v at) {
				t, _ := r.term(v)
				k.Named.Args = append(k.Named.Args, t)
			})
			arity = len(k.Named.Args)
		}},
		field{Name: "supervisor", Read: func(v at) {
			nested, o := r.supervisor(v)
			k.Type, k.Options, k.Modules = supervisor.Supervisor, o, []wire.Atom{"supervisor"}
			k.Start = func(...any) (node.Actor, error) { return supervisor.New(nested), nil }
		}},
		field{Name: "restart", Read: func(v at) {
			k.Restart, _ = choice(r, v, supervisor.Permanent, supervisor.Transient, supervisor.Temporary)
		}},
		field{Name: "shutdown", Read: func(v at) {
			switch d, _ := r.Duration(v, "brutal_kill", "infinity"); d {
			case -1:
				k.Shutdown = supervisor.BrutalKill
			case -2:
				k.Shutdown = node.Infinity
			default:
				k.Shutdown = d
			}
		}},
		field{Name: "type"},
		field{Name: "significant", Read: func(v at) { k.Significant = r.Flag(v) }},
		field{Name: "modules"},
		field{Name: "backoff", Read: func(v at) { k.Backoff = r.backoff(v) }},
	)
	if got == nil {
		return k, v
	}
	if _, is := got["supervisor"]; is {
		for _, f := range []string{"start", "args", "name", "global", "modules"} {
			if w, there := got[f]; there && (f == "name" || f == "global") {
				r.Fail(w, "belongs into the field supervisor when the child is a supervisor")
			} else if there {
				r.Fail(w, "not allowed for a child that is a supervisor")
			}
		}
	} else if w, there := got["start"]; !there {
		v := v
		v.Path = strict.Join(v.Path, "start")
		r.Fail(v, "missing; want module:function of an exported behaviour, or the field supervisor instead")
	} else if start.Arity = arity; !startOK {
		// That has been reported.
	} else if r.known.Own[start] != nil {
		r.own(&k, got, start)
	} else {
		k.Named.Module, k.Named.Function = start.Module, start.Function
		r.resolve(w, start, s.Strategy == supervisor.SimpleOneForOne)
	}
	r.rest(&k, got)
	if cmp.Or(k.Type, supervisor.Worker) == supervisor.Worker {
		k.Options.Bounds = r.known.Mailbox
	}
	r.combinations(&k, s, got)
	return k, r.identify(&k, v, got)
}

// own sets the Start of a child whose behaviour is in Known.Own.
func (r *reader) own(k *supervisor.Child, got map[string]at, start wire.Export) {
	args := k.Named.Args
	k.Named, k.Modules = supervisor.Named{}, []wire.Atom{start.Module}
	k.Start = func(...any) (node.Actor, error) { return nil, errUnread } // a placeholder for a child with invalid args
	v, there := got["args"]
	if !there {
		v = got["start"]
	}
	if slices.Contains(args, nil) {
		return // the invalid argument has been reported
	}
	made, err := r.known.Own[start](args)
	if err != nil {
		r.Fail(v, "%v", err)
		return
	}
	k.Start = made
}

var errUnread = errors.New("tree: a child of a file with errors")

// rest reads fields whose meaning depends on others.
func (r *reader) rest(k *supervisor.Child, got map[string]at) {
	isSupervisor := k.Type == supervisor.Supervisor
	if v, there := got["name"]; there && !isSupervisor {
		k.Options.Name, _ = r.name(v)
	}
	if v, there := got["global"]; there && !isSupervisor {
		r.global(v, &k.Options)
	}
	if v, there := got["type"]; there {
		typ, ok := choice(r, v, supervisor.Worker, supervisor.Supervisor)
		if ok && isSupervisor && typ == supervisor.Worker {
			r.Fail(v, "worker; but the child has the field supervisor")
		}
		if !isSupervisor {
			k.Type = typ // for a behaviour that supervises in its own way
		}
	}
	if v, there := got["modules"]; there && !isSupervisor {
		if v.Kind == yaml.ScalarNode && v.Value == "dynamic" {
			k.Modules = []wire.Atom{"dynamic"}
			return
		}
		k.Modules = []wire.Atom{}
		r.List(v, func(_ int, v at) {
			if m, ok := r.atom(v, "a module"); ok {
				k.Modules = append(k.Modules, m)
			}
		})
	}
}

// combinations checks for fields that are valid individually, but not together.
func (r *reader) combinations(k *supervisor.Child, s *supervisor.Spec, got map[string]at) {
	if v, there := got["significant"]; there && k.Significant {
		if cmp.Or(s.AutoShutdown, supervisor.Never) == supervisor.Never {
			r.Fail(v, "not allowed with auto_shutdown: never; set auto_shutdown of the supervisor to any_significant or all_significant")
		}
		if cmp.Or(k.Restart, supervisor.Permanent) == supervisor.Permanent {
			r.Fail(v, "not allowed with restart: permanent; want restart: transient or temporary")
		}
	}
	onlyOne := func(key string, given bool) {
		if !given || s.Strategy != supervisor.SimpleOneForOne {
			return
		}
		v, there := got[key]
		if !there {
			v = got["supervisor"]
			v.Path = strict.Join(v.Path, key)
		}
		r.Fail(v, "not allowed with strategy: simple_one_for_one, which may have many such children")
	}
	onlyOne("name", k.Options.Name != "")
	onlyOne("global", k.Options.Via != nil)
	if v, there := got["backoff"]; there && k.Restart == supervisor.Temporary {
		r.Fail(v, "has no effect with restart: temporary; want restart: permanent or transient")
	}
}

// identify makes sure that k has an id, and returns its position.
func (r *reader) identify(k *supervisor.Child, v at, got map[string]at) at {
	if id, there := got["id"]; there {
		return id
	}
	name, named := got["name"]
	if k.Options.Name != "" {
		k.ID = k.Options.Name
	} else if !named {
		v.Path = strict.Join(v.Path, "id")
		r.Fail(v, "missing; want id, or name, which then serves as the id")
	}
	if named {
		return name
	}
	return v
}

// id reads a child's id: text is an atom, everything else a term.
func (r *reader) id(v at) (any, bool) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
		return r.atomText(v)
	}
	return r.term(v)
}

func (r *reader) backoff(v at) (b supervisor.Backoff) {
	var limit at
	r.Object(v,
		field{Name: "initial", Required: true, Read: func(v at) { b.Initial, _ = r.Duration(v) }},
		field{Name: "factor", Read: func(v at) { b.Factor = r.Float(v, 1, math.MaxFloat64) }},
		field{Name: "max", Read: func(v at) { b.Max, _ = r.Duration(v); limit = v }},
		field{Name: "jitter", Read: func(v at) { b.Jitter = r.Float(v, 0, 1) }},
		field{Name: "reset", Read: func(v at) { b.Reset, _ = r.Duration(v) }},
	)
	if b.Max > 0 && b.Initial > b.Max {
		r.Fail(limit, "%v; want at least initial, %v", b.Max, b.Initial)
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
	r.Fail(v, "want module:function without arity, which is the number of args; %s",
		strict.Allowed("", r.exports(func(wire.Export) bool { return true })))
	return wire.Export{}, false
}

// resolve checks that a behaviour is exported with its arity or, if more is true, with any arity from that on.
func (r *reader) resolve(v at, e wire.Export, more bool) {
	same := func(x wire.Export) bool { return x.Module == e.Module && x.Function == e.Function }
	if slices.ContainsFunc(r.known.Behaviours, func(x wire.Export) bool {
		return same(x) && (x.Arity == e.Arity || more && x.Arity > e.Arity)
	}) {
		return
	}
	if like := r.exports(same); len(like) > 0 {
		r.Fail(v, "%s is not exported for %d args; %s", strict.Cut(text(e)), e.Arity, strict.Allowed("", like))
		return
	}
	all := r.exports(func(x wire.Export) bool { return x.Module == e.Module })
	if len(all) == 0 {
		all = r.exports(func(wire.Export) bool { return true })
	}
	if len(all) == 0 {
		r.Fail(v, "%s is not exported; nothing is", strict.Cut(text(e)))
		return
	}
	r.Fail(v, "%s is not exported; %s", strict.Cut(text(e)), strict.Allowed(text(e)+"/"+strconv.Itoa(e.Arity), all))
}

// exports lists the behaviours for which want returns true.
func (r *reader) exports(want func(wire.Export) bool) (all []string) {
	for _, x := range slices.Concat(r.known.Behaviours, slices.Collect(maps.Keys(r.known.Own))) {
		if want(x) {
			all = append(all, strings.TrimPrefix(x.String(), "fun "))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// text returns module:function of e.
func text(e wire.Export) string {
	return wire.Format(e.Module) + ":" + wire.Format(e.Function)
}
