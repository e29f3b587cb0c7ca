package tree

import (
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// applied is an application with the positions of its dependencies.
type applied struct {
	application.Spec
	name    at
	depends []at
}

// applications reads a list of applications.
func (r *reader) applications(v at) (all []application.Spec) {
	var apps []applied
	first := make(map[wire.Atom]int)
	for _, name := range r.known.Applications {
		first[name] = 0
	}
	r.List(v, func(_ int, v at) {
		a := r.application(v)
		if line, twice := first[a.Name]; a.Name == "" {
			// The missing name has been reported already.
		} else if twice && line == 0 {
			r.Fail(a.name, "an application named %s already exists; want another name", wire.Format(a.Name))
		} else if twice {
			r.Fail(a.name, "the name %s is already used by the application in line %d", wire.Format(a.Name), line)
		} else {
			first[a.Name] = a.name.Line
		}
		apps = append(apps, a)
		all = append(all, a.Spec)
	})
	r.dependencies(apps)
	return all
}

func (r *reader) application(v at) (a applied) {
	twice := make(map[wire.Atom]bool)
	got := r.Object(v,
		field{Name: "name", Required: true, Read: func(v at) {
			if a.Name, _ = r.atom(v, "the application's name"); a.Name == "" {
				r.Fail(v, "want a name, not an empty text")
			}
			a.name = v
		}},
		field{Name: "description", Read: func(v at) { a.Description, _ = r.Text(v, "a text") }},
		field{Name: "vsn", Read: func(v at) { a.Version, _ = r.Text(v, "a version, a text") }},
		field{Name: "type", Read: func(v at) {
			a.Type, _ = choice(r, v, application.Temporary, application.Transient, application.Permanent)
		}},
		field{Name: "depends", Read: func(v at) {
			r.List(v, func(_ int, v at) {
				name, _ := r.atom(v, "an application")
				if twice[name] {
					r.Fail(v, "%s is given twice", wire.Format(name))
					return
				}
				twice[name] = true
				a.Depends, a.depends = append(a.Depends, name), append(a.depends, v)
			})
		}},
		field{Name: "optional"},
		field{Name: "modules", Read: func(v at) { a.Modules = r.atoms(v, "a module") }},
		field{Name: "registered", Read: func(v at) { a.Registered = r.atoms(v, "a registered name") }},
		field{Name: "env", Read: func(v at) { a.Env = r.env(v) }},
		field{Name: "stop_timeout", Read: func(v at) {
			if a.StopTimeout, _ = r.Duration(v, "infinity"); a.StopTimeout == -1 {
				a.StopTimeout = infinity
			}
		}},
		field{Name: "supervisor", Read: func(v at) {
			s, o := r.supervisor(v)
			a.Top, a.TopOptions = &s, o
		}},
	)
	if v, there := got["optional"]; there {
		r.List(v, func(_ int, v at) {
			name, ok := r.atom(v, "an application")
			if ok && !twice[name] {
				r.Fail(v, "%s is not in depends; %s", wire.Format(name), strict.Allowed(string(name), plain(a.Depends)))
			}
			a.Optional = append(a.Optional, name)
		})
	}
	return a
}

func (r *reader) atoms(v at, what string) (l []wire.Atom) {
	r.List(v, func(_ int, v at) {
		if a, ok := r.atom(v, what); ok {
			l = append(l, a)
		}
	})
	return l
}

// env reads an environment: keys are atoms, values terms.
func (r *reader) env(v at) map[wire.Atom]any {
	env := make(map[wire.Atom]any)
	t, ok := r.term(v)
	m, isMap := t.(wire.Map)
	if !ok {
		return env
	}
	if !isMap {
		r.Fail(v, "want a mapping of names to values")
		return env
	}
	for k, value := range m.All() {
		if text, ok := k.([]byte); ok {
			k = wire.Atom(text)
		}
		name, ok := k.(wire.Atom)
		if !ok || name == "" || !name.Valid() {
			r.Fail(v, "the key %s; want names of 1 to %d characters", strict.Cut(wire.Format(k)), wire.MaxAtomRunes)
			continue
		}
		env[name] = value
	}
	return env
}

// dependencies checks that the dependencies of apps are known and acyclic.
func (r *reader) dependencies(apps []applied) {
	byName := make(map[wire.Atom]int)
	there := make(map[wire.Atom]bool)
	known := plain(r.known.Applications)
	for _, name := range r.known.Applications {
		there[name] = true
	}
	for i, a := range apps {
		if _, twice := byName[a.Name]; !twice && a.Name != "" {
			byName[a.Name] = i
			known = append(known, string(a.Name))
		}
	}
	slices.Sort(known)
	for _, a := range apps {
		for i, d := range a.Depends {
			if _, here := byName[d]; !here && d != "" && !there[d] && !slices.Contains(a.Optional, d) && !r.Full() {
				r.Fail(a.depends[i], "unknown application %s; %s", strict.Cut(wire.Format(d)), strict.Allowed(string(d), known))
			}
		}
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(apps))
	var path []string
	var walk func(i int)
	walk = func(i int) {
		state[i] = open
		path = append(path, string(apps[i].Name))
		for j, d := range apps[i].Depends {
			k, here := byName[d]
			switch {
			case !here || state[k] == done:
			case state[k] == open:
				circle := append(path[slices.Index(path, string(d)):len(path):len(path)], string(d))
				r.Fail(apps[i].depends[j], "the dependencies form a cycle, %s; remove one", strings.Join(circle, " -> "))
			default:
				walk(k)
			}
		}
		path = path[:len(path)-1]
		state[i] = done
	}
	for i := range apps {
		if k, named := byName[apps[i].Name]; named && k == i && state[i] == unseen {
			walk(i)
		}
	}
}

func plain(names []wire.Atom) (l []string) {
	for _, n := range names {
		l = append(l, string(n))
	}
	return l
}
