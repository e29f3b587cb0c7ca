package main

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
)

// soakStand is what a soak runs on: nodes that stay, the network between them, the
// traffic, and the faults.
type soakStand struct {
	p       contract.Params
	out     io.Writer
	seed    uint64
	cookie  string
	tick    time.Duration
	net     *soakNet
	log     lastLines     // of the two nodes whose connection has Grace
	nodes   []*soakNode   // that stay
	stall   time.Duration // how long a peer reads nothing, or little, at most
	silence bool          // nodes may go without a word

	patience time.Duration // how long something may take that must happen
	lingers  time.Duration // how long something may be left that must go; 0: patience

	traffic traffic
	kinds   []soakKind

	mu     sync.Mutex
	number uint64          // of faults so far
	counts map[string]int  // of them, by kind
	fixed  [soakFixed]bool // names of nodes that come again: whether they are there
}

// soakNode is a node with what all of them have.
type soakNode struct {
	*node.Node
	proto string // native, erlang or both
	scope *pg.Scope
	sup   node.PID
	sink  node.PID // its receiver
}

// asideName is the third node that stays, whose connections have no Grace.
const asideName node.Atom = "aside@127.0.0.1"

func newSoakStand(p contract.Params, out io.Writer, kinds []soakKind) (*soakStand, error) {
	s := &soakStand{p: p, out: out, cookie: crand.Text(), tick: time.Duration(p.Int("tick")) * time.Second, net: newSoakNet(),
		counts: make(map[string]int), seed: uint64(p.Int("seed"))}
	s.patience = 2*s.tick + soakSlack // a connection that has died in silence is noticed by ticks
	if s.seed == 0 {
		s.seed = rand.Uint64()>>1 | 1 // as seed= takes it
	}
	s.stall = soakStall
	if lasts := time.Duration(p.Int("seconds")) * time.Second; p.Int("count") == 0 && lasts >= 4*s.tick {
		s.stall, s.silence = soakLongStall, true
	}
	wanted := strings.Split(p.Word("kinds"), ",")
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
		if p.Word("kinds") == "all" || slices.Contains(wanted, k.name) {
			s.kinds = append(s.kinds, k)
		}
	}
	for _, name := range wanted {
		if name != "all" && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%q is no kind of fault: kinds wants all, or some of %s", name, strings.Join(names, ","))
		}
	}
	return s, nil
}

const (
	soakStall     = time.Second
	soakLongStall = 5 * time.Second // where there is time for it
)

func (s *soakStand) faulty() bool { return s.p.Int("faults") > 0 }

// soakProtocols are what a node speaks, the preferred one first.
func soakProtocols(proto string) []dist.Protocol {
	switch proto {
	case "native":
		return []dist.Protocol{&native.Protocol{}}
	case "erlang":
		return []dist.Protocol{&erldist.Protocol{}}
	}
	return []dist.Protocol{&native.Protocol{}, &erldist.Protocol{}}
}

// node starts a node with all that processes of other nodes may use.
func (s *soakStand) node(ctx context.Context, name node.Atom, proto string, d node.Distribution) (*soakNode, error) {
	d.Protocols, d.Cookie, d.Finder, d.TickTime = soakProtocols(proto), s.cookie, s.net, s.tick
	d.Transport = soakDialler{net: s.net, me: name}
	d.Cluster.Stall = s.tick // longer than any peer here takes nothing
	cfg := node.Config{Name: name, Distribution: &d}
	if d.Grace > 0 {
		cfg.Log = slog.New(slog.NewTextHandler(&s.log, nil)).With("node", string(name))
	}
	n, err := node.Start(cfg)
	if err != nil {
		return nil, err
	}
	k := &soakNode{Node: n, proto: proto}
	if err := k.furnish(ctx); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return k, nil
}

func (n *soakNode) furnish(ctx context.Context) (err error) {
	for _, f := range []struct {
		name  wire.Atom
		arity int
		run   rpc.Function
	}{{"echo", 1, soakEcho}, {"fail", 0, soakFail}, {"sleep", 1, soakSleep}} {
		if err := rpc.Export(n.Node, wire.Export{Module: "soak", Function: f.name, Arity: f.arity}, f.run); err != nil {
			return err
		}
	}
	if err := rpc.ExportBehaviour(n.Node, wire.Export{Module: "soak", Function: "guest", Arity: 0}, soakGuest); err != nil {
		return err
	}
	n.sup, err = supervisor.Start(ctx, n, supervisor.Spec{Intensity: 1 << 20, Period: time.Second}, node.Options{Name: "soak_sup"})
	if err != nil {
		return err
	}
	n.scope, err = pg.Start(ctx, n, pg.Config{Name: "soak_pg", Seek: soakShort})
	return err
}

// start starts the nodes that stay, and the senders, which are held.
func (s *soakStand) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, soakSlack)
	defer cancel()
	s.net.direct = !s.faulty()
	proto, grace := s.p.Word("proto"), s.tick/2
	if !s.faulty() {
		grace = 0
	}
	kept := proto // of the third node
	if proto == "mixed" {
		kept = "erlang"
	}
	for _, k := range []struct {
		name  node.Atom
		proto string
		grace time.Duration
	}{{nearName, proto, grace}, {farName, proto, grace}, {asideName, kept, 0}} {
		if k.name == asideName && !s.faulty() {
			continue
		}
		n, err := s.node(ctx, k.name, k.proto, node.Distribution{Grace: k.grace})
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.startTraffic(ctx)
}

// startTraffic starts a receiver on each node, and the senders.
func (s *soakStand) startTraffic(ctx context.Context) error {
	near, far := s.nodes[0], s.nodes[1]
	ways := [][2]*soakNode{{near, far}}
	if s.faulty() {
		aside := s.nodes[2]
		ways = [][2]*soakNode{{near, far}, {near, aside}, {far, near}, {aside, near}}
	}
	senders := s.p.Int("senders")
	s.traffic.held.Store(true)
	s.traffic.renewing.Store(true)
	defer s.traffic.renewing.Store(false)
	for _, to := range s.nodes {
		k := &soaked{next: make([]int, senders), fail: s.traffic.fail, renewing: &s.traffic.renewing}
		if s.faulty() {
			k.gap, k.senders = make([]bool, senders), make(map[node.Atom][]int)
			if s.never(to, near) {
				k.never = map[*soakNode]node.Atom{near: farName, far: nearName}[to]
			}
			for id := range senders {
				if way := ways[id%len(ways)]; way[1] == to {
					k.senders[way[0].Name()] = append(k.senders[way[0].Name()], id)
				}
			}
		}
		pid, err := to.Spawn(k)
		if err != nil {
			return err
		}
		to.sink = pid
	}
	for id := range senders {
		way := ways[id%len(ways)]
		s.traffic.streams = append(s.traffic.streams, &stream{from: way[0], to: way[1], sink: way[1].sink})
	}
	for id, t := range s.traffic.streams {
		if _, err := t.from.Spawn(s.traffic.sender(id, float64(s.p.Int("rate"))/float64(senders))); err != nil {
			return err
		}
	}
	return s.acquaint(ctx)
}

// acquaint connects all nodes that stay, and waits until the receivers on both ends have word
// of each connection: one end may have it before the other.
func (s *soakStand) acquaint(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	for _, n := range s.nodes {
		for _, other := range s.nodes {
			if n == other {
				continue
			}
			if _, err := rpc.Call[int](ctx, n, other.Name(), "soak", "echo", 1); err != nil {
				return fmt.Errorf("%s asks %s for an echo: %w", n.Name(), other.Name(), err)
			}
		}
	}
	for _, n := range s.nodes {
		if _, err := node.Call[soakCounts](ctx, n, n.sink, wire.Atom("count")); err != nil {
			return s.traffic.why(err)
		}
	}
	return nil
}

// never reports whether the connection of two nodes is never lost, for it has Grace.
func (s *soakStand) never(x, y *soakNode) bool {
	aside := s.nodes[len(s.nodes)-1]
	return s.p.Word("proto") != "erlang" && x != aside && y != aside
}

// connect connects all nodes that stay with each other.
func (s *soakStand) connect(ctx context.Context) error {
	for i, n := range s.nodes {
		for _, other := range s.nodes[:i] {
			for err := n.Connect(ctx, other.Name()); err != nil; err = n.Connect(ctx, other.Name()) {
				select { // it has been cut, or is lost just now
				case <-ctx.Done():
					return fmt.Errorf("%s does not connect to %s: %w", n.Name(), other.Name(), err)
				case <-time.After(soakPoll):
				}
			}
		}
	}
	return nil
}

// stop stops all nodes, and waits for the network.
func (s *soakStand) stop() (err error) {
	s.net.heal()
	for _, n := range s.nodes {
		err = errors.Join(err, n.Stop())
	}
	s.net.close()
	return err
}

// still waits until nothing changes, before the faults.
func (s *soakStand) still(ctx context.Context) (census, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if err := s.traffic.hold(ctx, s); err != nil {
		return census{}, err
	}
	was := s.take(false)
	for same := 0; same < soakStill; same++ {
		select {
		case <-ctx.Done():
			return census{}, fmt.Errorf("the nodes do not come to rest: %w", context.Cause(ctx))
		case <-time.After(soakPoll):
		}
		now := s.take(false)
		if now.against(was) != "" {
			same = 0
		}
		was = now
	}
	return was, nil
}

// settle ends what holds the network up, waits for what is under way, and compares what
// there is with what there was. A census is returned with the error, too.
func (s *soakStand) settle(ctx context.Context, was census) (c census, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	s.net.heal()
	if err := s.traffic.hold(ctx, s); err != nil {
		return c, err
	}
	if s.lingers > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.lingers)
		defer cancel()
	}
	if c, err = s.compare(ctx, was); err != nil {
		return c, err
	}
	if c.against(was) == "" && s.faulty() { // the tables are as they were; what memory is to be compared is next
		s.traffic.renewing.Store(true)
		defer s.traffic.renewing.Store(false)
		if err := s.renew(ctx); err != nil {
			return c, err
		}
		if _, err := s.compare(ctx, was); err != nil {
			return c, err
		}
	}
	c = s.take(true)
	if c.got, err = s.traffic.counts(context.WithoutCancel(ctx)); err != nil {
		return c, err
	}
	if wrong := c.against(was); wrong != "" {
		if c.goroutines() > was.goroutines() {
			stacks(s.out)
		}
		return c, fmt.Errorf("something has not come back to what it was:\n\t%s", wrong)
	}
	return c, nil
}

// compare waits until all tables are as they were, or time is over.
func (s *soakStand) compare(ctx context.Context, was census) (census, error) {
	for {
		c := s.take(false)
		if c.against(was) == "" {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return c, nil
		case <-time.After(soakPoll):
		}
		if err := s.connect(ctx); err != nil && ctx.Err() == nil {
			return c, err
		}
	}
}

// renew makes the connections of the nodes that stay anew, while the traffic is held: what a
// connection keeps for later (buffers, atoms that both ends know) grows with the most that
// there has been to do, up to a bound, and is no part of what is compared.
func (s *soakStand) renew(ctx context.Context) error {
	for i, n := range s.nodes {
		for _, other := range s.nodes[:i] {
			n.Disconnect(other.Name())
		}
	}
	if err := s.traffic.hold(ctx, s); err != nil {
		return err
	}
	return s.acquaint(ctx)
}

// tally says how many faults of each kind there were.
func (s *soakStand) tally() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		all = append(all, fmt.Sprintf("%d %s", s.counts[kind], kind))
	}
	return strings.Join(all, ", ")
}
