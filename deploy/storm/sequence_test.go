package storm

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/testkit"
)

// request is the command that a client was started for.
type request struct {
	step
	pid     string
	gone    bool // the client's node has ended
	ended   bool // the client was killed
	opened  bool // the client was told to unlock
	client       // as it was last seen
	replied int  // the step after which the answer was seen

	known     []string // nodes that its node knew at the last rest before
	rested    bool     // the cluster has come to rest since
	disturbed bool     // something broke between the last rest before it and the first after it, or partitions overlapped
}

// sequence runs a plan.
type sequence struct {
	*cluster
	requests map[int]*request
	plan     plan
	now      int // the step
	late     [][2]int
	broken   bool         // something broke since the last rest
	last     int          // the step at which something last broke
	resting  map[int]view // at the last rest
	overlap  bool         // at the last rest a node knew another that knew a third, which the first did not know
	cuts     []cut
	slow     map[[2]int]bool
	since    map[[2]int]time.Time // pairs that are connected and do not share names

	hung, differed, untold int // accepted deviations: see the package's document
}

// cut is a time in which two nodes could not connect.
type cut struct {
	between  pair
	from, to int // steps
}

// run runs a plan and judges the result.
func run(t *testing.T, p plan) (s *sequence) {
	s = &sequence{
		cluster: newCluster(t, p.nodes), plan: p, requests: map[int]*request{}, since: map[[2]int]time.Time{},
		slow: map[[2]int]bool{},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with -storm.seed=%d -storm.sequences=1\n%v", p.seed, p)
			t.Logf("log of our nodes:\n%s", &s.log)
		}
	})
	for _, j := range p.joined {
		s.connect(j[0], j[1])
	}
	for i, st := range p.steps {
		s.now = i
		s.take(st)
	}
	s.now = len(p.steps)
	s.judge()
	return s
}

// state returns a text about what is wrong, with the views of all nodes.
func (s *sequence) state(format string, args ...any) string {
	text := fmt.Sprintf("after step %d: ", s.now) + fmt.Sprintf(format, args...)
	all := s.looks()
	for _, i := range slices.Sorted(maps.Keys(all)) {
		v := all[i]
		text += fmt.Sprintf("\n%s %s: nodes %v, known %v, synced %v, busy %q, locks %v\n    names %v", s.names[i], s.kinds[i],
			v.Nodes, v.Known, v.Synced, v.Busy, v.Locks, v.Names)
	}
	for _, id := range slices.Sorted(maps.Keys(s.requests)) {
		r := s.requests[id]
		text += fmt.Sprintf("\n%v: %s %+v, gone %v, ended %v, disturbed %v", r.step, r.pid, r.client, r.gone, r.ended, r.disturbed)
	}
	return text
}

// must waits for something that must happen soon.
func (s *sequence) must(what string, d time.Duration, wrong func(all map[int]view) string) {
	if w := s.wait(d, wrong); w != "" {
		s.t.Fatal(s.state("%s: %s", what, w))
	}
}

// take does a step.
func (s *sequence) take(st step) {
	a, b := s.names[st.node], s.names[st.other]
	late := s.late
	s.late = nil
	hear := func() {
		for _, p := range late {
			s.w.sever(s.names[p[0]], s.names[p[1]], "")
		}
	}
	defer hear()
	switch st.op {
	case "register", "again", "unregister", "lock", "try":
		r := &request{step: st, known: s.resting[st.node].Known, disturbed: s.broken || s.overlap}
		r.pid = s.nodes[st.node].do(command{Op: st.op, ID: st.id, Name: st.name, Method: st.method})
		s.requests[st.id] = r
	case "unlock":
		s.requests[st.id].opened = true
		s.nodes[st.node].do(command{Op: st.op, ID: st.id})
	case "end":
		s.requests[st.id].ended = true
		s.nodes[st.node].do(command{Op: st.op, ID: st.id})
	case "cut":
		s.breaks()
		s.cuts = append(s.cuts, cut{pairOf(a, b), s.now, 1 << 30})
		s.w.sever(a, b, "")
		if s.plan.settled {
			s.must("a cut", testkit.Limit, s.parted(st.node, st.other))
		}
	case "late":
		s.breaks()
		s.cuts = append(s.cuts, cut{pairOf(a, b), s.now, 1 << 30})
		s.w.sever(a, b, b)
		s.late = append(s.late, [2]int{st.node, st.other})
	case "stall":
		s.breaks()
		s.w.stall(a, b)
	case "mend":
		s.breaks()
		for i := range s.cuts {
			if s.cuts[i].between == pairOf(a, b) {
				s.cuts[i].to = min(s.cuts[i].to, s.now)
			}
		}
		s.w.mend(a, b)
		if s.plan.settled {
			s.nodes[st.node].do(command{Op: "join", Node: s.full(st.other)})
		} else {
			s.connect(st.node, st.other)
		}
	case "disconnect":
		s.breaks()
		s.nodes[st.node].do(command{Op: st.op, Node: s.full(st.other)})
	case "kill":
		s.breaks()
		s.nodes[st.node].kill()
		s.nodes[st.node] = nil
		for _, r := range s.requests {
			r.gone = r.gone || r.node == st.node
		}
		if s.plan.settled {
			for i, n := range s.nodes {
				if n != nil {
					s.must("a node that has ended", testkit.Limit, s.parted(i, st.node))
				}
			}
		}
	case "start":
		s.breaks()
		s.begin(st.node)
	case "rest":
		hear()
		s.come("to rest", s.rest)
	case "whole":
		s.come("together", s.healed)
	case "looks":
		for range st.id {
			s.see(s.looks())
		}
	}
}

// breaks records that something breaks, or is mended.
func (s *sequence) breaks() {
	s.broken, s.last = true, s.now
	for _, r := range s.requests {
		r.disturbed = r.disturbed || !r.rested
	}
}

// rests records that the cluster is at rest.
func (s *sequence) rests(all map[int]view) {
	s.broken, s.resting = false, all
	for _, r := range s.requests {
		r.rested = true
	}
	if w := s.shared(); w != "" {
		s.t.Fatal(s.state("locks: %s", w))
	}
	s.overlap = s.overlaps(all)
}

// overlaps reports whether a node knows another that knows a third, which the first does not know.
func (s *sequence) overlaps(all map[int]view) bool {
	for i, v := range all {
		for j, o := range all {
			for _, other := range o.Known {
				if slices.Contains(v.Known, s.full(j)) && other != s.full(i) && !slices.Contains(v.Known, other) {
					return true
				}
			}
		}
	}
	return false
}

// shared says which lock two clients hold, on nodes that have known each other since before both asked for it.
func (s *sequence) shared() string {
	for _, a := range s.requests {
		for _, b := range s.requests {
			both := a.id < b.id && a.name == b.name && a.holds() && b.holds() && !a.opened && !b.opened
			undisturbed := a.id > s.last+1 && !a.disturbed && !b.disturbed
			known := a.node == b.node || slices.Contains(a.known, s.full(b.node)) && slices.Contains(b.known, s.full(a.node))
			if both && undisturbed && known {
				return fmt.Sprintf("clients %d and %d both have %s", a.id, b.id, a.name)
			}
		}
	}
	return ""
}

// begin starts a node again, which connects to all others.
func (s *sequence) begin(i int) {
	s.start(i)
	for j, n := range s.nodes {
		switch {
		case n == nil || i == j:
		case s.plan.settled:
			s.nodes[i].do(command{Op: "join", Node: s.full(j)})
		default:
			s.connect(i, j)
		}
	}
}

// see updates the state of clients.
func (s *sequence) see(all map[int]view) {
	for _, r := range s.requests {
		if c, ok := all[r.node].Client[r.id]; ok && !r.gone {
			if r.Answer == "" && c.Answer != "" {
				r.replied = s.now
			}
			r.client = c
		}
	}
}

// rest says what is under way: in a node, or an answer that is still to come. A client may wait for a lock.
func (s *sequence) rest(all map[int]view) string {
	s.see(all)
	for _, r := range s.requests {
		if r.Answer == "" && !r.gone && !r.ended && r.op != "lock" {
			return fmt.Sprintf("no answer yet: %v", r.step)
		}
	}
	if w := s.busy(all); w != "" {
		return w
	}
	return s.split(all)
}

// split says which name differs between two nodes of a partition, in a settled plan, unless a request for it was
// disturbed, or partitions overlap.
func (s *sequence) split(all map[int]view) string {
	if !s.plan.settled || s.overlaps(all) {
		return ""
	}
	for i, v := range all {
		for j, o := range all {
			if !slices.Contains(v.Known, s.full(j)) {
				continue
			}
			for name, pid := range v.Names {
				if o.Names[name] != pid && !s.disturbed(name) {
					return fmt.Sprintf("%s is %s on %s, and %q on %s", name, pid, s.names[i], o.Names[name], s.names[j])
				}
			}
		}
	}
	return ""
}

// healed says what is missing for a cluster in which all know all.
func (s *sequence) healed(all map[int]view) string {
	s.reconnect(all)
	if w := s.rest(all); w != "" {
		return w
	}
	return s.whole(all)
}

// come waits until the cluster is at rest, or together. A pair of OTP nodes may hang, see the package's document: its
// connection is then ended. A pair with a node of ours has the time that our node promises.
func (s *sequence) come(how string, wrong func(all map[int]view) string) {
	var last map[int]view
	begin := time.Now()
	w := s.wait(hanging, func(all map[int]view) string {
		last = all
		w := wrong(all)
		switch {
		case w == "":
		case s.hangs(all):
			begin = time.Now()
		case time.Since(begin) > testkit.Limit:
			s.t.Fatal(s.state("it does not come %s: %s", how, w))
		}
		return w
	})
	if w != "" {
		s.t.Fatal(s.state("it does not come %s: %s", how, w))
	}
	s.rests(last)
}

// hangs ends the connections of OTP nodes that hang, and reports whether any nodes hang.
func (s *sequence) hangs(all map[int]view) (some bool) {
	pairs := s.hang(all)
	for p := range s.since {
		if !slices.Contains(pairs, p) {
			delete(s.since, p)
		}
	}
	for _, p := range pairs {
		some = true
		a, b := p[0], p[1]
		switch since, ok := s.since[p]; {
		case !ok:
			s.since[p] = time.Now()
		case time.Since(since) > stuck && s.kinds[a] == "erl" && s.kinds[b] == "erl":
			s.hung++
			s.t.Logf("after step %d: OTP nodes hang: %s; %s", s.now, s.sees(all, a, b), s.sees(all, b, a))
			s.nodes[a].do(command{Op: "disconnect", Node: s.full(b)})
			delete(s.since, p)
		case time.Since(since) > stuck && !s.slow[p]:
			s.slow[p] = true
			s.t.Logf("after step %d: a node of ours and another are slow: %s; %s", s.now, s.sees(all, a, b), s.sees(all, b, a))
		}
	}
	return some
}

// sees says what a node knows of another.
func (s *sequence) sees(all map[int]view, i, j int) string {
	v, other := all[i], s.full(j)
	return fmt.Sprintf("%s %s: connected %v, known %v, in sync %v, locks %v, busy %q", s.kinds[i], s.names[i],
		slices.Contains(v.Nodes, other), slices.Contains(v.Known, other), slices.Contains(v.Synced, other), v.Locks, v.Busy)
}

// judge heals the cluster and says what is wrong then.
func (s *sequence) judge() {
	s.breaks()
	for i := range s.names {
		for j := range i {
			s.w.mend(s.names[i], s.names[j])
		}
		if s.nodes[i] == nil {
			s.begin(i)
		}
	}
	s.come("together", s.healed)
	s.must("locks", testkit.Limit, s.locks)
	s.must("locks are not released", testkit.Limit, s.released)
	s.must("names", testkit.Limit, s.tables)
	s.accepted(s.looks())
	for _, r := range s.requests {
		if !r.gone {
			r.ended = true
			s.nodes[r.node].do(command{Op: "end", ID: r.id})
		}
	}
	s.must("names of processes that are dead", testkit.Limit, func(all map[int]view) string {
		for i, v := range all {
			if len(v.Names) > 0 || len(v.Shown) > 0 {
				return fmt.Sprintf("%s has %v", s.names[i], v.Names)
			}
		}
		return ""
	})
}

// holds reports whether a client has a lock.
func (r *request) holds() bool {
	return (r.op == "lock" || r.op == "try") && r.Answer == "true" && r.Alive && !r.gone && !r.ended
}

// locks says which lock no client holds.
func (s *sequence) locks(all map[int]view) string {
	s.see(all)
	held := map[string][]string{}
	for _, r := range s.requests {
		if r.holds() || r.op == "lock" && r.Answer == "" {
			held[r.name] = append(held[r.name], r.pid)
		}
	}
	for i, v := range all {
		if s.kinds[i] != "erl" && len(v.Locks) > len(held) {
			return fmt.Sprintf("%s has %d locks, and there are %v", s.names[i], len(v.Locks), held)
		}
		for resource, pids := range v.Locks {
			for _, pid := range pids {
				if s.kinds[i] == "erl" && !slices.Contains(held[resource], pid) {
					return fmt.Sprintf("%s has %s locked by %s, and there are %v", s.names[i], resource, pid, held)
				}
			}
		}
	}
	return ""
}

// released unlocks all until nothing is locked and no client waits.
func (s *sequence) released(all map[int]view) string {
	s.see(all)
	for i, v := range all {
		if len(v.Locks) > 0 {
			s.nodes[i].do(command{Op: "release"})
		}
	}
	for i, v := range all {
		if len(v.Locks) > 0 {
			return fmt.Sprintf("%s has %v", s.names[i], v.Locks)
		}
	}
	for _, r := range s.requests {
		if r.Answer == "" && !r.gone && !r.ended {
			return fmt.Sprintf("no answer yet: %v", r.step)
		}
	}
	return s.busy(all)
}

// tables says which names are wrong.
func (s *sequence) tables(all map[int]view) string {
	s.see(all)
	for i, v := range all {
		if slices.Sort(v.Shown); !slices.Equal(v.Shown, sortedKeys(v.Names)) {
			return fmt.Sprintf("%s shows %v, and finds %v", s.names[i], v.Shown, v.Names)
		}
		for name, pid := range v.Names {
			if !s.registered(name, pid) {
				return fmt.Sprintf("%s is %s on %s, which has not got it", name, pid, s.names[i])
			}
		}
	}
	for _, name := range s.differing(all) {
		if !s.disturbed(name) {
			return fmt.Sprintf("nodes differ about %s", name)
		}
	}
	for _, r := range s.lost(all) {
		if !s.disturbed(r.name) && !s.apart(r) {
			return fmt.Sprintf("%s is %q, and was not taken from client %d", r.name, all[0].Names[r.name], r.id)
		}
	}
	return ""
}

// accepted counts what is wrong with names and is not our fault.
func (s *sequence) accepted(all map[int]view) {
	s.differed += len(s.differing(all))
	s.untold += len(s.lost(all))
}

// differing returns the names that not all nodes have, or that they have for different processes.
func (s *sequence) differing(all map[int]view) (names []string) {
	pids := map[string]string{}
	count := map[string]int{}
	wrong := map[string]bool{}
	for _, v := range all {
		for name, pid := range v.Names {
			wrong[name] = wrong[name] || pids[name] != "" && pids[name] != pid
			pids[name] = pid
			count[name]++
		}
	}
	for _, name := range sortedKeys(pids) {
		if wrong[name] || count[name] < len(all) {
			names = append(names, name)
		}
	}
	return names
}

// lost returns the clients that got a name, are alive, and do not have it, though they were not told of a clash and no
// request may have taken it from them.
func (s *sequence) lost(all map[int]view) (some []*request) {
	for _, r := range s.requests {
		named := (r.op == "register" || r.op == "again") && r.Answer == "yes" && r.Alive && !r.gone && !r.ended
		if named && all[r.node].Names[r.name] != r.pid && !r.Conflict && !s.taken(r) {
			some = append(some, r)
		}
	}
	return some
}

// disturbed reports whether a request for a name was disturbed.
func (s *sequence) disturbed(name string) bool {
	for _, r := range s.requests {
		if r.name == name && r.disturbed {
			return true
		}
	}
	return false
}

// apart reports whether a client could not be told of a clash: the other process was on a node that its own was cut off from.
func (s *sequence) apart(c *request) bool {
	for _, r := range s.requests {
		if r.name != c.name || r == c || r.op == "unregister" {
			continue
		}
		for _, k := range s.cuts {
			if k.between == pairOf(s.names[r.node], s.names[c.node]) && k.to > c.id {
				return true
			}
		}
	}
	return false
}

// registered reports whether a process that is alive got a name.
func (s *sequence) registered(name, pid string) bool {
	for _, r := range s.requests {
		if r.pid == pid && r.name == name && (r.op == "register" || r.op == "again") && r.Answer == "yes" && r.Alive && !r.gone {
			return true
		}
	}
	return false
}

// taken reports whether a request may have taken a name from a client: one that was made after the client's, or was not
// answered before it.
func (s *sequence) taken(c *request) bool {
	for _, r := range s.requests {
		if r.name == c.name && (r.op == "unregister" || r.op == "again") && r != c &&
			(r.id > c.id || r.Answer == "" || r.replied >= c.id-1) {
			return true
		}
	}
	return false
}
