package otp_test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// A peer uses every service and every exported function of a node, with random rights, to get at other processes. The
// node must not do for the peer what the peer may not do itself: neither by a reply that goes where the request says,
// nor by a function that acts on a process.
func TestDeputies(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		for _, said := range []bool{true, false} { // who operates the node
			t.Run(fmt.Sprintf("%s, operators %t", protocol, said), func(t *testing.T) {
				r := testkit.Rand(t)
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, protocol, said, r)
					all := w.attempts()
					happened := make(map[string]bool)
					for range testkit.By(1, 4, 40) {
						r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
						for _, a := range all {
							w.try(a, happened)
						}
					}
					entry := []string{"connect", "rpc", "spawn"} // needed for every deputy, and for nothing else
					for name := range w.rows() {
						if name != "named" && name != "kept" && name != "net_kernel" && name != "rex" && name != "actornode" {
							entry = append(entry, "call "+string(name), "send "+string(name))
						}
					}
					for _, a := range all { // each can fail both ways
						w.tryWith(a, entry, true, happened)
						w.tryWith(a, []string{"all"}, false, happened)
						w.tryWith(a, []string{"all"}, true, happened)
						if a.want != nil && len(a.want(w.granted())) > 0 {
							require.True(t, happened[a.name], "%s has never had an effect", a.name)
						}
					}
					w.complete()
				})
			})
		}
	}
}

// effects is the set of things that have happened to others, such as "message nameless".
type effects map[string]bool

func one(what ...string) effects {
	e := make(effects)
	for _, s := range what {
		e[s] = true
	}
	return e
}

// when returns the effects that happen if may holds.
func when(may bool, what ...string) effects {
	if !may {
		return nil
	}
	return one(what...)
}

// attempt is one try of a peer.
type attempt struct {
	name   string
	before func() // nil: nothing
	do     func()
	want   func(may) effects // exactly these happen; nil: none, or those of most
	most   func(may) effects // these may happen besides
}

// may holds the rights of the peer.
type may struct {
	*rights.Granted
	operates bool
}

func (m may) all() bool    { return m.Send("") && m.Call("") }
func (m may) act() bool    { return m.operates && m.Act() }
func (m may) end() bool    { return m.operates && m.Signal() } // for processes that no peer has started
func (m may) endFar() bool { return m.all() && m.Signal() }

// limited reports whether each incoming message is checked.
func (m may) limited() bool { return !m.all() || !m.Signal() }
func (m may) service() bool { return m.Look() || m.Act() || m.Trace() }

// object is an active object, whose methods only Go nodes call.
type object struct{}

// Get is a method of object.
func (*object) Get(*active.Context, struct{}) (int, error) { return 0, nil }

// witness records the messages that it gets.
type witness struct {
	mu  sync.Mutex
	got []any
	pid node.PID
	ref node.Ref // an alias
}

func (v *witness) taken() []any {
	v.mu.Lock()
	defer v.mu.Unlock()
	got := v.got
	v.got = nil
	return got
}

// world is a node a with all services, a peer b of it, and a third node c.
type world struct {
	*testing.T
	rand     *rand.Rand
	said     bool // who operates the node
	a, b, c  *node.Node
	policy   *rights.Policy
	operates atomic.Bool
	apps     *application.Controller
	scope    *pg.Scope
	me       *node.Process // of b
	alias    node.Ref      // of me
	victims  map[string]*witness
	services map[node.Atom]node.PID
	base     map[node.PID]bool // all processes at the beginning
	has      map[string]bool   // what has been made for an attempt

	served map[node.Atom]bool   // services that have rows
	known  map[wire.Export]bool // functions that have rows
}

func newWorld(t *testing.T, protocol string, said bool, r *rand.Rand) *world {
	w := &world{T: t, rand: r, said: said, victims: make(map[string]*witness), has: make(map[string]bool),
		served: make(map[node.Atom]bool),
		known:  make(map[wire.Export]bool)}
	cluster := clustertest.NewCluster(t)
	cluster.Speak(protocol)
	var err error
	w.policy, err = rights.New(rights.Config{})
	require.NoError(t, err)
	w.a = cluster.StartWith("a", node.Distribution{Access: node.Access{Rights: w.policy}, Published: global.Join(global.Config{})})
	w.b, w.c = cluster.Start("b"), cluster.StartWith("c", node.Distribution{Published: global.Join(global.Config{})})
	ctx := testkit.Context(t)
	require.NoError(t, otp.Serve(w.a, otp.Config{Output: io.Discard}))
	w.scope, err = pg.Start(ctx, w.a, pg.Config{Keep: true})
	require.NoError(t, err)
	require.NoError(t, pg.Serve(w.a))
	w.apps, err = application.Start(ctx, w.a)
	require.NoError(t, err)
	require.NoError(t, migrate.Start(ctx, w.a))
	_, err = event.Start(ctx, w.a, event.Config{Modules: map[node.Atom]func(any) (event.Handler, error){
		"watcher": func(any) (event.Handler, error) {
			return event.Func(func(*event.Context, int) error { return nil }), nil
		}}}, node.Options{Name: "events", Protected: true})
	require.NoError(t, err)
	_, err = w.a.SpawnOpt(node.Options{Name: "server", Protected: true}, servers.New(new(server)))
	require.NoError(t, err)
	_, err = active.Start(w.a, new(object), node.Options{Name: "object", Protected: true})
	require.NoError(t, err)
	c := admin.Config{Operators: func(node.Atom) bool { return w.operates.Load() }}
	if !said {
		c.Operators = nil
	}
	require.NoError(t, admin.Start(ctx, w.a, c))
	require.NoError(t, w.apps.Load(application.Spec{Name: "shop",
		Top: &supervisor.Spec{Children: []supervisor.Child{{ID: word("till"),
			Start: func(...any) (node.Actor, error) { return node.ProcessFunc(idle), nil }}}},
		TopOptions: node.Options{Name: "shop"}}))
	require.NoError(t, w.apps.Start(ctx, "shop", application.Temporary))
	for _, name := range []string{"named", "nameless", "kept"} {
		w.witness(name)
	}
	w.witness("far")
	cluster.Connect(w.a, w.b, w.c)
	w.me = nodetest.NewProbe(t, w.b).Process
	w.me.TrapExit(true)
	w.alias = w.me.Alias()
	synctest.Wait()
	w.services, w.base = w.registered(), make(map[node.PID]bool)
	for pid := range w.a.Inside(process.Key{}).Processes() {
		w.base[pid] = true
	}
	return w
}

// witness starts a witness, again if there was one.
func (w *world) witness(name string) *witness {
	v, o, n := new(witness), node.Options{}, w.a
	switch name {
	case "named":
		o.Name = "named"
	case "kept":
		o.Name, o.Protected = "kept", true
	case "far":
		n = w.c
	}
	ready := make(chan struct{})
	pid, err := n.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
		v.ref = p.Alias()
		close(ready)
		for {
			m := p.Receive()
			v.mu.Lock()
			v.got = append(v.got, m)
			v.mu.Unlock()
		}
	}))
	require.NoError(w, err)
	<-ready
	v.pid = pid
	w.victims[name] = v
	return v
}

func (w *world) registered() map[node.Atom]node.PID {
	all := make(map[node.Atom]node.PID)
	for _, name := range w.a.Registered() {
		all[name], _ = w.a.Whereis(name)
	}
	return all
}

func (w *world) pid(name string) node.PID { return w.victims[name].pid }

// granted returns the current rights of the peer.
func (w *world) granted() may {
	return may{w.policy.Of(rights.Identity{Name: w.b.Name()}, nil), !w.said || w.operates.Load()}
}

// try makes an attempt with random rights.
func (w *world) try(a attempt, happened map[string]bool) {
	words := []string{"connect"}
	for _, word := range []string{"send", "call", "rpc", "spawn", "signal", "admin_read", "admin_act", "trace"} {
		if w.rand.IntN(2) == 0 {
			words = append(words, word)
		}
	}
	for name := range w.services {
		if w.rand.IntN(4) == 0 && name != "net_kernel" && name != "rex" && name != "actornode" {
			words = append(words, []string{"send ", "call "}[w.rand.IntN(2)]+string(name))
		}
	}
	if w.rand.IntN(8) == 0 {
		words = []string{"all"}
	}
	w.tryWith(a, words, w.rand.IntN(2) == 0, happened)
}

func (w *world) tryWith(a attempt, words []string, operates bool, happened map[string]bool) {
	w.operates.Store(operates)
	require.NoError(w, w.policy.Set(rights.Config{Rules: []rights.Rule{{Peer: string(w.b.Name()), May: words},
		{May: []string{"all"}}}}))
	if a.before != nil {
		a.before()
	}
	a.do()
	synctest.Wait()
	time.Sleep(2 * time.Millisecond) // by the bubble's clock: messages that are sent at intervals
	synctest.Wait()
	got := w.effects()
	var want, most effects
	if a.want != nil {
		want = a.want(w.granted())
	}
	if a.most != nil {
		most = a.most(w.granted())
	}
	told := func(e effects) string { return strings.Join(slices.Sorted(maps.Keys(e)), ", ") }
	for what := range got {
		require.True(w, want[what] || most[what], "%s has done: %s\nwhat may happen: %s %s\nthe rights: %q, operates %t", a.name,
			told(got),
			told(want), told(most), words, operates)
		happened[a.name] = true
	}
	for what := range want {
		require.True(w, got[what], "%s has done: %s\nwhat must happen: %s\nthe rights: %q, operates %t", a.name, told(got), told(want),
			words, operates)
	}
}

// effects returns what has happened since the last call, and undoes it.
func (w *world) effects() effects {
	e := make(effects)
	for _, name := range slices.Sorted(maps.Keys(w.victims)) {
		v := w.victims[name]
		n := w.a
		if name == "far" {
			n = w.c
		}
		for range v.taken() {
			e["message "+name] = true
		}
		info, err := n.Info(v.pid)
		if err != nil {
			e["end "+name] = true
		} else if len(info.Links) > 0 {
			e["link "+name] = true
			n.Exit(v.pid, node.Kill)
			synctest.Wait()
		}
		if !n.IsAlive(v.pid) {
			w.witness(name)
			if name != "far" && name != "nameless" {
				w.services[node.Atom(name)] = w.pid(name)
			}
		}
	}
	ctx := testkit.Context(w)
	now := w.registered()
	for name, pid := range now {
		switch was, ok := w.services[name]; {
		case name == "appmon_info":
			w.a.Exit(pid, node.Kill)
			synctest.Wait()
		case !ok:
			e["register"] = true
			_ = w.a.Unregister(name)
		case was != pid:
			e["end "+string(name)] = true
			w.services[name] = pid
		}
	}
	for name, pid := range w.services {
		if _, ok := now[name]; ok {
			continue
		}
		if w.a.IsAlive(pid) {
			e["unregister"] = true
			require.NoError(w, w.a.Register(name, pid))
		} else {
			e["end "+string(name)] = true
			delete(w.services, name)
		}
	}
	running, err := w.apps.Which(ctx)
	require.NoError(w, err)
	is := map[string]bool{"application": len(running) != 1, "environment": len(w.apps.AllEnv("shop")) > 0,
		"connection": !slices.Contains(w.a.AllNodes(), w.c.Name())}
	if is["application"] || w.has["application"] {
		delete(e, "end shop") // which ends with the application
	}
	if is["application"] {
		require.NoError(w, w.apps.Start(ctx, "shop", application.Temporary))
	}
	w.services["shop"], _ = w.a.Whereis("shop")
	for k := range w.apps.AllEnv("shop") {
		w.apps.UnsetEnv("shop", k)
	}
	if is["connection"] {
		require.NoError(w, w.a.Connect(ctx, w.c.Name()))
	}
	for _, g := range w.scope.Groups() {
		for _, pid := range w.scope.LocalMembers(g) {
			is["group"] = true
			require.NoError(w, w.scope.Leave(ctx, w.a, g, pid))
		}
	}
	for _, name := range global.Names(w.a) {
		pid, _ := global.Whois(w.a, name)
		if pid.Node() != w.b.Name() {
			is["global name"] = true
		}
		err := global.Unregister(ctx, w.a, name)
		require.NoError(w, err)
	}
	for _, what := range []string{"application", "environment", "connection", "group", "global name"} {
		if was := w.has[what]; is[what] && !was {
			e[what] = true
		} else if was && !is[what] {
			e["no "+what] = true
		}
	}
	clear(w.has)
	kids, err := supervisor.WhichChildren(ctx, w.a, node.Atom("shop"))
	require.NoError(w, err)
	if len(kids) != 1 || kids[0].PID.IsZero() {
		e["child"] = true
		_, err := supervisor.RestartChild(ctx, w.a, node.Atom("shop"), word("till"))
		require.NoError(w, err)
	}
	if !w.lively() {
		e["suspend server"] = true
		require.NoError(w, sys.Resume(ctx, w.a, node.Atom("server")))
	}
	for pid := range w.a.Inside(process.Key{}).Processes() { // started processes may go on
		if !w.base[pid] && !slices.ContainsFunc(slices.Collect(maps.Values(w.victims)),
			func(v *witness) bool { return v.pid == pid }) &&
			!slices.Contains(slices.Collect(maps.Values(w.services)), pid) {
			if i, err := w.a.Info(pid); err == nil && len(i.Links) == 0 {
				w.a.Exit(pid, node.Kill)
			}
		}
	}
	synctest.Wait()
	for _, m := range actortest.Rest(w.me) { // leave out what the node itself has sent, as for the answers
		_ = m
	}
	for _, v := range w.victims {
		v.taken()
	}
	return e
}

// lively reports whether the server handles requests.
func (w *world) lively() bool {
	p := nodetest.NewProbe(w, w.a)
	defer p.Close(nil)
	require.NoError(w, p.Send(node.Atom("server"), calls.MakeCall(wire.Tuple{p.Self(), w.a.MakeRef()}, wire.Atom("hello"))))
	synctest.Wait()
	return len(actortest.Rest(p)) == 1
}

// ref makes a reference of the node of a process.
func (w *world) ref(pid node.PID) node.Ref {
	if pid.Node() == w.c.Name() {
		return w.c.MakeRef()
	}
	return w.a.MakeRef()
}

// forms returns the forms of From, with the effect of a reply to each, if it may go there.
func (w *world) forms() map[string]form {
	all := func(m may) bool { return m.all() }
	never := func(may) bool { return false }
	always := func(may) bool { return true }
	cast := wire.Atom("$gen_cast")
	forms := map[string]form{
		"own":              {func() any { return wire.Tuple{w.me.Self(), w.b.MakeRef()} }, always, ""},
		"own, a cast":      {func() any { return wire.Tuple{w.me.Self(), cast} }, always, ""},
		"own, by an alias": {func() any { return calls.MakeFrom(w.me.Self(), w.alias) }, always, ""},
		"own, by an alias of this node": {func() any { return calls.MakeFrom(w.me.Self(), w.victims["nameless"].ref) },
			all, "nameless"},
	}
	for _, name := range []string{"named", "nameless", "kept", "far"} {
		v := func() *witness { return w.victims[name] }
		n := w.a
		if name == "far" {
			n = w.c
		}
		forms[name] = form{func() any { return wire.Tuple{v().pid, n.MakeRef()} }, all, name}
		forms[name+", a cast"] = form{func() any { return wire.Tuple{v().pid, cast} }, never, ""}
		forms[name+", any atom"] = form{func() any { return wire.Tuple{v().pid, wire.Atom("stop")} }, never, ""}
		forms[name+", own reference"] = form{func() any { return wire.Tuple{v().pid, w.b.MakeRef()} }, never, ""}
		forms[name+", own alias"] = form{func() any { return calls.MakeFrom(v().pid, w.alias) }, always, ""}
		forms[name+", by its alias"] = form{func() any { return calls.MakeFrom(v().pid, v().ref) }, all, name}
		forms[name+", by its alias alone"] = form{func() any {
			return wire.Tuple{wire.AtomUndefined, wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: v().ref}}
		}, all, name}
		forms[name+", by an alias that is none"] = form{func() any { return calls.MakeFrom(v().pid, n.MakeRef()) }, all, ""}
		forms[name+", by an alias in a list"] = form{func() any {
			return wire.Tuple{v().pid, wire.List{wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: v().ref}}}
		}, all, name}
	}
	return forms
}

// form is a form of From.
type form struct {
	term    func() any
	may     func(may) bool
	reaches string // the victim that a reply reaches, if it may
}

// service describes the process behind a name: what it answers, and to whom.
type service struct {
	request any             // a request that it answers; nil: none
	right   func(may) bool  // the right to call it
	notes   map[string]note // the messages that it sends where the request says
}

// note is a message with a PID that the process sends to, or links.
type note struct {
	make  func(to node.PID) any
	link  bool // it is linked, and sent to only if it is not
	never bool // it does neither: the process does not take this message
}

func tuple(v ...any) wire.Tuple { return v }

func word(s string) wire.Atom { return wire.Atom(s) }

// rows returns a row for each service: each registered process must have one.
func (w *world) rows() map[node.Atom]service {
	always := func(may) bool { return true }
	io := note{func(to node.PID) any { return tuple(word("io_request"), to, 1, word("getopts")) }, false, false}
	call := wire.List{}
	return map[node.Atom]service{
		"net_kernel": {tuple(word("is_auth"), w.b.Name()), always, map[string]note{"io": io}},
		"rex": {tuple(word("call"), word("erlang"), word("node"), call, w.me.Self()), always, map[string]note{
			"features": {func(to node.PID) any { return tuple(to, word("features_request")) }, false, false},
			"call": {func(to node.PID) any { return tuple(to, tuple(word("call"), word("erlang"), word("node"), call, to)) },
				false, false},
			"sbcast": {func(to node.PID) any { return tuple(to, tuple(word("sbcast"), word("nobody"), 1)) }, false, false},
			"send":   {func(to node.PID) any { return tuple(to, tuple(word("send"), word("nobody"), 1)) }, false, false},
		}},
		"actornode":              {word("status"), func(m may) bool { return m.service() || !m.limited() }, nil}, // it says so
		"application_controller": {word("which_applications"), nil, nil},
		"events": {word("which_handlers"), nil, map[string]note{
			"labelled": {func(to node.PID) any { return tuple(to, tuple(to, w.ref(to)), word("which_handlers")) }, false, false},
			"label":    {func(to node.PID) any { return tuple(word("x"), tuple(to, w.ref(to)), word("which_handlers")) }, false, true},
			"cast": {func(to node.PID) any { return tuple(word("x"), tuple(to, word("$gen_cast")), word("which_handlers")) },
				false, true},
			"owner": {func(to node.PID) any {
				return calls.MakeCall(tuple(w.me.Self(), w.b.MakeRef()), tuple(word("add_sup_handler"), word("watcher"), call, to))
			}, true, false},
		}},
		"global_group": {word("own_nodes"), nil, map[string]note{
			"find":  {func(to node.PID) any { return calls.MakeCast(tuple(word("find_name"), to, word("x"))) }, false, false},
			"names": {func(to node.PID) any { return calls.MakeCast(tuple(word("registered_names"), to)) }, false, false},
			"check": {func(to node.PID) any {
				return calls.MakeCast(tuple(word("conf_check"), 3, w.b.Name(), tuple(to, 1), word("sync"), word("g"), word("normal"), call))
			}, false, false},
		}},
		"global_name_server": {tuple(word("del_lock"), tuple(word("r"), w.me.Self())), nil, nil},
		"logger_proxy":       {nil, nil, nil},
		"migrate":            {word("nothing"), nil, nil},
		"pg": {word("nothing"), nil, map[string]note{
			"discover": {func(to node.PID) any { return tuple(word("discover"), to) }, false, true},
			"sync": {func(to node.PID) any { return tuple(word("sync"), to, wire.List{tuple(word("g"), wire.List{to})}) },
				false, true},
			"join": {func(to node.PID) any { return tuple(word("join"), to, word("g"), to) }, false, true},
		}},
		"user": {nil, nil, map[string]note{"io": io}},
		"shop": {word("count_children"), nil, nil},
		// These stand for processes of users.
		"server": {word("hello"), nil, nil},
		"object": {word("hello"), nil, nil}, // it answers that it does not know the request
		"named":  {nil, nil, nil},
		"kept":   {nil, nil, nil},
	}
}

func (w *world) to(name node.Atom) node.At { return node.At{Name: name, Node: w.a.Name()} }

func (w *world) send(to node.Dest, msg any) { require.NoError(w, w.me.Send(to, msg)) }

// attempts returns all attempts.
func (w *world) attempts() (all []attempt) {
	add := func(name string, want func(may) effects, do func()) {
		all = append(all, attempt{name: name, do: do, want: want})
	}
	might := func(name string, most func(may) effects, do func()) {
		all = append(all, attempt{name: name, do: do, most: most})
	}
	rows := w.rows()
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		s := rows[name]
		w.served[name] = true
		witness := name == "named" || name == "kept"
		callable := s.right
		if callable == nil {
			callable = func(m may) bool { return m.Call(name) }
		}
		tells := func(m may) bool { return m.Send(name) }
		if name == "net_kernel" || name == "rex" {
			tells = callable
		}
		forms := w.forms()
		for _, what := range slices.Sorted(maps.Keys(forms)) {
			f := forms[what]
			reach := func(m may) effects {
				e := when(s.request != nil && f.reaches != "" && callable(m) && f.may(m), "message "+f.reaches)
				if witness && callable(m) && (f.may(m) || !m.limited()) {
					return one("message " + string(name))
				}
				return e
			}
			request := s.request
			if request == nil {
				request = word("hello")
			}
			add(fmt.Sprintf("call %s for %s", name, what), reach, func() { w.send(w.to(name), calls.MakeCall(f.term(), request)) })
			might(fmt.Sprintf("call %s by its PID for %s", name, what), reach, func() {
				w.send(w.services[name], calls.MakeCall(f.term(), request))
			})
			system := func(m may) effects {
				switch {
				case witness:
					return when(m.Signal() && (f.may(m) || !m.limited()), "message "+string(name))
				case !m.Signal() || !f.may(m) || f.reaches == "":
					return nil
				}
				return one("message " + f.reaches)
			}
			for _, q := range []wire.Atom{"get_state", "get_status"} {
				might(fmt.Sprintf("%s of %s for %s", q, name, what), system, func() {
					w.send(w.to(name), tuple(word("system"), f.term(), q))
				})
			}
		}
		for _, to := range []string{"named", "nameless", "kept", "far"} {
			for _, what := range slices.Sorted(maps.Keys(s.notes)) {
				note := s.notes[what]
				add(fmt.Sprintf("tell %s %s, with %s", name, what, to), func(m may) effects {
					switch {
					case note.never:
						return nil
					case note.link:
						return when(callable(m) && m.all() && m.Signal() && (to == "far" || to != "kept" && m.operates), "link "+to)
					}
					return when(tells(m) && m.all(), "message "+to)
				}, func() { w.send(w.to(name), note.make(w.pid(to))) })
			}
		}
	}
	return slices.Concat(all, w.direct(), w.monitors(), w.functions())
}

// monitors returns the attempts to have the process of an application monitor send where a cast says.
func (w *world) monitors() (all []attempt) {
	start := wire.Export{Module: "appmon_info", Function: "start_link", Arity: 3}
	once := wire.List{tuple(word("timeout"), word("at_most_once"))}
	for _, to := range []string{"named", "nameless", "kept", "far"} {
		for _, kind := range []wire.Atom{"load", "app_ctrl", "pinfo"} {
			all = append(all, attempt{name: fmt.Sprintf("appmon: %s to %s", kind, to), do: func() {
				w.ways()["erpc"].call(start, w.me.Self(), args(w.me.Self(), w.me.Self(), wire.List{}))
				synctest.Wait()
				w.send(w.to("appmon_info"), calls.MakeCast(tuple(w.pid(to), kind, w.pid(to), wire.AtomTrue, once)))
			}, want: func(m may) effects { return when(m.all() && m.RPC(start), "message "+to) }})
		}
	}
	return all
}

// direct returns what a peer does itself.
func (w *world) direct() (all []attempt) {
	add := func(name string, want func(may) effects, do func()) {
		all = append(all, attempt{name: name, do: do, want: want})
	}
	ask := func(name node.Atom, request any) {
		w.send(w.to(name), calls.MakeCall(tuple(w.me.Self(), w.b.MakeRef()), request))
	}
	for _, q := range []string{"terminate_child", "delete_child", "restart_child"} {
		a := attempt{name: q, do: func() { ask("shop", tuple(word(q), word("till"))) }, want: func(m may) effects {
			return when(m.Call("shop") && m.operates, "child")
		}}
		if q != "terminate_child" {
			a.want, a.most = nil, a.want
		}
		all = append(all, a)
	}
	for _, to := range []string{"named", "nameless", "kept"} {
		name := map[string]wire.Atom{"named": "named", "kept": "kept"}[to]
		operator := func(q any, what string) {
			add(fmt.Sprintf("actornode %v of %s", wire.Format(q), to), func(m may) effects { return when(m.act(), what) }, func() {
				t := slices.Clone(q.(wire.Tuple))
				for i := range t {
					if t[i] == word("PID") {
						t[i] = w.pid(to)
					}
				}
				ask("actornode", t)
			})
		}
		operator(tuple(word("exit"), word("PID"), word("kill")), "end "+to)
		operator(tuple(word("send"), word("PID"), 1), "message "+to)
		operator(tuple(word("call"), word("PID"), 1, 1000), "message "+to)
		if name != "" {
			for _, q := range []string{"sbcast", "send"} {
				add("rex "+q+" to "+to, func(m may) effects { return when(m.Send(name), "message "+to) }, func() {
					w.send(w.to("rex"), tuple(w.me.Self(), tuple(word(q), name, "hello")))
				})
			}
		} else {
			operator(tuple(word("register"), word("other"), word("PID")), "register")
		}
		end := func(m may) effects { return when(to != "kept" && m.end(), "end "+to) }
		add("send to "+to, func(m may) effects { return when(m.Send(name), "message "+to) }, func() { w.send(w.pid(to), "hello") })
		add("cast to "+to, func(m may) effects { return when(m.Send(name), "message "+to) },
			func() { w.send(w.pid(to), calls.MakeCast(1)) })
		add("exit of "+to, end, func() { w.me.Exit(w.pid(to), node.Kill) })
		add("link to "+to, end, func() {
			h := nodetest.NewProbe(w, w.b)
			h.Link(w.pid(to))
			synctest.Wait()
			h.Close(wire.Atom("boom"))
		})
		add("message to the alias of "+to, func(may) effects { return one("message " + to) },
			func() { w.send(w.victims[to].ref, "hello") })
		add("suspend "+to, func(m may) effects { return when(m.Signal(), "message "+to) }, func() {
			w.send(w.pid(to), tuple(word("system"), tuple(w.me.Self(), w.b.MakeRef()), word("suspend")))
		})
	}
	return all
}

// reads are the functions that have no effect on others, whatever their arguments.
const reads = `_:module_info/0 _:module_info/1 application:get_all_env/1 application:get_all_key/1 application:get_env/2
	application:get_env/3
	application:get_key/2 application:info/0 application:loaded_applications/0 application:which_applications/0
	application:which_applications/1 application_controller:get_master/1 application_controller:is_running/1
	application_master:get_child/1 code:all_loaded/0 code:ensure_loaded/1 code:is_loaded/1 code:which/1 erlang:error/1 erlang:exit/1
	erlang:function_exported/3 erlang:garbage_collect/1 erlang:garbage_collect/2 erlang:group_leader/0 erlang:is_alive/0
	erlang:garbage_collect/0 erlang:is_process_alive/1 erlang:loaded/0 erlang:localtime/0 erlang:memory/0 erlang:memory/1
	erlang:module_loaded/1 erlang:monotonic_time/0 erlang:monotonic_time/1 erlang:node/0 erlang:node/1 erlang:nodes/0 erlang:nodes/1
	erlang:nodes/2 erlang:port_info/1 erlang:port_info/2 erlang:ports/0 erlang:process_info/1 erlang:process_info/2
	erlang:processes/0
	erlang:registered/0 erlang:self/0 erlang:statistics/1 erlang:system_flag/2 erlang:system_info/1 erlang:system_time/0
	erlang:system_time/1 erlang:throw/1 erlang:timestamp/0 erlang:unique_integer/0 erlang:universaltime/0 erlang:whereis/1 ets:all/0
	ets:info/1 ets:info/2 ets:whereis/1 global:registered_names/0 global:sync/0 global:whereis_name/1 global_group:get_own_nodes/0
	global_group:ng_add_check/3 net_kernel:nodes_info/0 observer_backend:get_port_list/0 observer_backend:get_socket_list/0
	observer_backend:get_table_list/2 observer_backend:socket_info/0 observer_backend:sys_info/0 observer_backend:vsn/0
	pg:get_local_members/1 pg:get_local_members/2 pg:get_members/1 pg:get_members/2 pg:which_groups/0 pg:which_groups/1
	pg:which_local_groups/0 pg:which_local_groups/1 proc_lib:get_label/1 proc_lib:initial_call/1 proc_lib:translate_initial_call/1
	supervisor:get_callback_module/1 timer:sleep/1`

// ways returns the ways to call a function by name.
func (w *world) ways() map[string]way {
	rex := func(do wire.Atom, wrap func(any) any) way {
		return way{func(m may, e wire.Export) bool { return m.RPC(e) }, func(e wire.Export, leader node.PID, args []any) {
			w.send(w.to("rex"), wrap(tuple(do, e.Module, e.Function, wire.List(args), leader)))
		}}
	}
	return map[string]way{
		"erpc": {func(m may, e wire.Export) bool { return m.RPC(e) }, func(e wire.Export, _ node.PID, args []any) {
			rpc.Request(w.me, w.a.Name(), 1, e.Module, e.Function, args...)
		}},
		"spawn": {func(m may, e wire.Export) bool { return m.Spawn(e) }, func(e wire.Export, _ node.PID, args []any) {
			_, _ = rpc.Spawn(testkit.Context(w), w.me, w.a.Name(), e.Module, e.Function, args...)
		}},
		"rex":         rex("call", func(q any) any { return calls.MakeCall(wire.Tuple{w.me.Self(), w.b.MakeRef()}, q) }),
		"cast to rex": rex("cast", func(q any) any { return calls.MakeCast(q) }),
		"C node":      rex("call", func(q any) any { return wire.Tuple{w.me.Self(), q} }),
	}
}

// way is one way to call a function: whether the peer may, and how to do it.
type way struct {
	may  func(may, wire.Export) bool
	call func(e wire.Export, leader node.PID, args []any)
}

// use is a use of a function that has an effect on others.
type use struct {
	what   string
	args   func() []any
	want   func(may) effects
	leads  string // the victim that is the group leader of the call
	most   bool   // want may happen, and need not
	before func()
}

func args(v ...any) []any { return v }

// acts returns the rows of the functions that have an effect on others.
func (w *world) acts() map[string][]use {
	rows := make(map[string][]use)
	add := func(f string, u use) {
		for _, f := range strings.Fields(f) {
			rows[f] = append(rows[f], u)
		}
	}
	pid := w.pid
	for _, to := range []string{"named", "nameless", "kept", "far"} {
		far, name := to == "far", map[string]wire.Atom{"named": "named", "kept": "kept"}[to]
		message := func(right func(may) bool) func(may) effects {
			return func(m may) effects { return when(right(m), "message "+to) }
		}
		tells := func(m may) bool { return !far && m.Send(name) || m.all() }
		mayCall := func(m may) bool { return !far && m.Call(name) || m.all() }
		asks := func(m may) bool { return m.Signal() && (!far || m.all()) }
		reaches := func(m may) bool { return m.all() }
		ends := func(m may) bool { return far && m.endFar() || !far && to != "kept" && m.end() }
		end := func(m may) effects { return when(ends(m), "end "+to) }
		names := func(m may) bool { return m.all() }

		add("erlang:exit/2", use{to, func() []any { return args(pid(to), node.Kill) }, end, "", false, nil})
		add("global:random_exit_name/3", use{to, func() []any { return args(word("x"), pid(to), pid(to)) }, end, "", false, nil})
		add("global:resolve_it/4", use{to, func() []any {
			return args(wire.Export{Module: "global", Function: "random_exit_name", Arity: 3}, word("x"), pid(to), pid(to))
		}, end, "", false, nil})
		add("global:resolve_it/4", use{"notify " + to, func() []any {
			return args(wire.Export{Module: "global", Function: "notify_all_name", Arity: 3}, word("x"), pid(to), pid(to))
		}, message(tells), "", false, nil})
		add("global:random_notify_name/3 global:notify_all_name/3", use{to, func() []any {
			return args(word("x"), pid(to), pid(to))
		}, message(tells), "", false, nil})
		for kind, msg := range map[string]any{"hello": "hello", "a cast": calls.MakeCast(1), "an exit": tuple(word("EXIT"), 1, 2)} {
			add("erlang:send/2", use{kind + " to " + to, func() []any { return args(pid(to), msg) }, message(tells), "", false, nil})
			add("erlang:apply/3", use{kind + " to " + to, func() []any {
				return args(word("erlang"), word("send"), wire.List{pid(to), msg})
			}, func(m may) effects {
				send := wire.Export{Module: "erlang", Function: "send", Arity: 2}
				return when((m.RPC(send) || m.Spawn(send)) && tells(m), "message "+to)
			}, "", false, nil})
		}
		add("erlang:apply/2", use{to, func() []any {
			return args(wire.Export{Module: "erlang", Function: "exit", Arity: 2}, wire.List{pid(to), node.Kill})
		}, func(m may) effects {
			exit := wire.Export{Module: "erlang", Function: "exit", Arity: 2}
			return when((m.RPC(exit) || m.Spawn(exit)) && ends(m), "end "+to)
		}, "", false, nil})
		add("erlang:send/2", use{"a call to " + to, func() []any {
			return args(pid(to), calls.MakeCall(tuple(w.me.Self(), w.b.MakeRef()), 1))
		}, message(mayCall), "", false, nil})
		add("erlang:send/2", use{"suspend " + to, func() []any {
			return args(pid(to), tuple(word("system"), tuple(w.me.Self(), w.b.MakeRef()), word("suspend")))
		}, message(asks), "", false, nil})
		add("erlang:send/2", use{"to the alias of " + to, func() []any { return args(w.victims[to].ref, "hello") },
			message(func(m may) bool { return !far || m.all() }), "", false, nil})
		if name != "" {
			for _, dest := range []any{name, tuple(name, w.a.Name())} {
				add("erlang:send/2", use{"to the name " + to, func() []any { return args(dest, "hello") }, message(tells), "", false, nil})
				add("gen_server:cast/2", use{"the name " + to, func() []any { return args(dest, 1) }, message(tells), "", false, nil})
				add("gen_server:call/2", use{"the name " + to, func() []any { return args(dest, 1) }, message(mayCall), "", false, nil})
				add("sys:get_state/1", use{"the name " + to, func() []any { return args(dest) }, message(asks), "", false, nil})
			}
		}
		add("gen_server:cast/2", use{to, func() []any { return args(pid(to), 1) }, message(tells), "", false, nil})
		add("gen_server:call/2", use{to, func() []any { return args(pid(to), 1) }, message(mayCall), "", false, nil})
		add("gen_server:call/3", use{to, func() []any { return args(pid(to), 1, 1) }, message(mayCall), "", false, nil})
		add("gen_event:which_handlers/1 supervisor:which_children/1 supervisor:count_children/1", use{to,
			func() []any { return args(pid(to)) },
			message(mayCall), "", false, nil})
		add("sys:get_state/1 sys:get_status/1", use{to, func() []any { return args(pid(to)) }, message(asks), "", false, nil})
		add("sys:get_state/2 sys:get_status/2", use{to, func() []any { return args(pid(to), 1) }, message(asks), "", false, nil})
		add("io:format/1 io:put_chars/1", use{"for " + to, func() []any { return args(wire.Charlist("x")) },
			message(reaches), to, true, nil})
		add("io:format/2", use{"for " + to, func() []any { return args(wire.Charlist("x"), wire.List{}) },
			message(reaches), to, true, nil})
		add("io:nl/0", use{"for " + to, func() []any { return nil }, message(reaches), to, true, nil})
		add("observer_backend:procs_info/1 observer_backend:etop_collect/1", use{to, func() []any { return args(pid(to)) },
			message(reaches), "", false, nil})
		add("observer_backend:get_table/3", use{to, func() []any { return args(pid(to), word("x"), wire.List{}) },
			message(reaches), "", true, nil})
		add("observer_backend:fetch_stats/2", use{to, func() []any { return args(pid(to), 1) }, message(reaches), "", true, nil})
		add("dbg:do_relay/2", use{to, func() []any { return args(pid(to), word("x")) }, message(reaches), "", true, nil})
		linked := func(m may) effects { return when(m.all() && ends(m), "link "+to) }
		add("appmon_info:start_link/3", use{to, func() []any { return args(w.me.Self(), pid(to), wire.List{}) },
			linked, "", false, nil})
		add("appmon_info:start_link2/3", use{to, func() []any { return args(w.me.Self(), pid(to), wire.List{}) },
			linked, "", false, nil})
		if far {
			continue
		}
		isNamed := func() {
			w.has["global name"] = true
			require.NoError(w, global.Register(testkit.Context(w), w.a, word("x"), pid(to), global.Options{}))
		}
		joined := func() {
			w.has["group"] = true
			require.NoError(w, w.scope.Join(testkit.Context(w), w.a, word("g"), pid(to)))
		}
		nameless := func(what string) func(may) effects { return func(m may) effects { return when(names(m), what) } }
		add("global:send/2", use{to, func() []any { return args(word("x"), "hello") }, message(tells), "", false, isNamed})
		add("global:unregister_name/1", use{to, func() []any { return args(word("x")) },
			nameless("no global name"), "", false, isNamed})
		add("global:re_register_name/2", use{"of " + to, func() []any { return args(word("x"), w.me.Self()) },
			nameless("no global name"), "",
			false, isNamed})
		add("pg:leave/2", use{to, func() []any { return args(word("g"), pid(to)) }, nameless("no group"), "", false, joined})
		add("pg:leave/3", use{to, func() []any { return args(word("pg"), word("g"), wire.List{pid(to)}) },
			nameless("no group"), "", false, joined})
		add("erlang:register/2", use{to, func() []any { return args(word("other"), pid(to)) }, func(m may) effects {
			return when(names(m) && to == "nameless", "register")
		}, "", false, nil})
		if name != "" {
			add("erlang:unregister/1", use{to, func() []any { return args(name) }, func(m may) effects {
				return when(names(m) && to != "kept", "unregister")
			}, "", false, nil})
		}
		for _, f := range []string{"global:register_name/2", "global:re_register_name/2"} {
			add(f, use{to, func() []any { return args(word("x"), pid(to)) },
				func(m may) effects { return when(names(m), "global name") }, "", false, nil})
			add(f[:len(f)-1]+"3", use{to, func() []any {
				return args(word("x"), pid(to), wire.Export{Module: "global", Function: "notify_all_name", Arity: 3})
			}, func(m may) effects { return when(names(m), "global name") }, "", false, nil})
		}
		add("pg:join/2", use{to, func() []any { return args(word("g"), pid(to)) },
			func(m may) effects { return when(names(m), "group") }, "", false, nil})
		add("pg:join/3", use{to, func() []any { return args(word("pg"), word("g"), wire.List{pid(to), pid(to)}) }, func(m may) effects {
			return when(names(m), "group")
		}, "", false, nil})
	}
	act := func(what string) func(may) effects { return func(m may) effects { return when(m.act(), what) } }
	shop := word("shop")
	add("application:stop/1", use{"", func() []any { return args(shop) }, act("application"), "", false, nil})
	add("application:set_env/3", use{"", func() []any { return args(shop, word("k"), 1) }, act("environment"), "", false, nil})
	add("application:set_env/4", use{"", func() []any { return args(shop, word("k"), 1, wire.List{}) },
		act("environment"), "", false, nil})
	add("application:load/1 application:unload/1", use{"", func() []any { return args(shop) }, act("application"), "", true, nil})
	stopped := func() {
		w.has["application"] = true
		require.NoError(w, w.apps.Stop(testkit.Context(w), shop))
	}
	for _, f := range []string{"start", "ensure_started", "ensure_all_started"} {
		add("application:"+f+"/1", use{"", func() []any { return args(shop) }, act("no application"), "", false, stopped})
		add("application:"+f+"/2", use{"", func() []any { return args(shop, word("temporary")) },
			act("no application"), "", false, stopped})
	}
	set := func() {
		w.has["environment"] = true
		w.apps.SetEnv(shop, word("k"), 1)
	}
	add("application:unset_env/2", use{"", func() []any { return args(shop, word("k")) }, act("no environment"), "", false, set})
	add("application:unset_env/3", use{"", func() []any { return args(shop, word("k"), wire.List{}) },
		act("no environment"), "", false, set})
	add("global:disconnect/0", use{"", func() []any { return nil }, act("connection"), "", false, nil})
	add("erlang:disconnect_node/1", use{"", func() []any { return args(w.c.Name()) }, act("connection"), "", false, nil})
	alone := func() {
		w.has["connection"] = true
		w.a.Disconnect(w.c.Name())
		synctest.Wait()
	}
	add("net_adm:ping/1 net_kernel:connect_node/1", use{"", func() []any { return args(w.c.Name()) },
		act("no connection"), "", false, alone})
	return rows
}

// functions returns the attempts by functions.
func (w *world) functions() (all []attempt) {
	ways := w.ways()
	acts := w.acts()
	exports := make(map[string]wire.Export)
	for _, e := range w.a.Inside(process.Key{}).Exports() {
		exports[fmt.Sprintf("%s:%s/%d", e.Module, e.Function, e.Arity)] = e
	}
	for _, f := range slices.Sorted(maps.Keys(acts)) {
		e, ok := exports[f]
		require.True(w, ok, "%s is not exported", f)
		w.known[e] = true
		for i, u := range acts[f] {
			for _, name := range slices.Sorted(maps.Keys(ways)) {
				by := ways[name]
				leader := func() node.PID {
					if u.leads != "" {
						return w.pid(u.leads)
					}
					return w.me.Self()
				}
				a := attempt{name: fmt.Sprintf("%s %s, %d, by %s", f, u.what, i, name), before: u.before,
					do: func() { by.call(e, leader(), u.args()) },
					want: func(m may) effects {
						if !by.may(m, e) {
							return nil
						}
						return u.want(m)
					}}
				if u.most {
					a.want, a.most = nil, a.want
				}
				all = append(all, a)
			}
		}
	}
	for _, f := range strings.Fields(reads) {
		e, ok := exports[f]
		require.True(w, ok, "%s is not exported", f)
		w.known[e] = true
		for _, name := range slices.Sorted(maps.Keys(ways)) {
			all = append(all, attempt{name: f + " by " + name, do: func() {
				given := make([]any, e.Arity)
				for i := range given {
					v := w.victims[[]string{"named", "nameless", "kept", "far"}[w.rand.IntN(4)]]
					given[i] = []any{v.pid, v.ref, word("named"), word("shop"), word("x"), 1, wire.List{v.pid},
						tuple(v.pid, word("x"))}[w.rand.IntN(8)]
				}
				ways[name].call(e, w.me.Self(), given)
			}})
		}
	}
	return all
}

// complete fails for each service or function without a row.
func (w *world) complete() {
	for _, name := range w.a.Registered() {
		require.True(w, w.served[name], "the service %s has no row", name)
	}
	for _, e := range w.a.Inside(process.Key{}).Exports() {
		require.True(w, w.known[e], "the function %v has no row", e)
	}
}
