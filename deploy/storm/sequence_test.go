package storm

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// request is what a client was started for.
type request struct {
	step
	pid     string
	gone    bool // the client's node has ended
	ended   bool // the client was killed
	client       // as it was seen last
	replied int  // the step after which the answer was seen
}

// sequence is a plan that is carried out.
type sequence struct {
	*cluster
	requests map[int]*request
	plan     plan
	now      int // the step
	holes    int // pairs of OTP nodes that hung
	late     [][2]int
}

// run carries out a plan and judges what has come of it. It returns what is wrong.
func run(t *testing.T, p plan) (s *sequence) {
	s = &sequence{cluster: newCluster(t, p.nodes), plan: p, requests: map[int]*request{}}
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
		if t.Failed() {
			return s
		}
	}
	s.now = len(p.steps)
	s.judge()
	return s
}

// fail says what is wrong, with what all nodes know.
func (s *sequence) fail(format string, args ...any) {
	text := fmt.Sprintf("after step %d: ", s.now) + fmt.Sprintf(format, args...)
	all := s.looks()
	for _, i := range slices.Sorted(maps.Keys(all)) {
		v := all[i]
		text += fmt.Sprintf("\n%s %s: nodes %v, known %v, synced %v, busy %q, locks %v\n    names %v", s.names[i], s.kinds[i],
			v.Nodes, v.Known, v.Synced, v.Busy, v.Locks, v.Names)
	}
	for _, id := range slices.Sorted(maps.Keys(s.requests)) {
		r := s.requests[id]
		text += fmt.Sprintf("\n%v: %s %+v, gone %v, ended %v", r.step, r.pid, r.client, r.gone, r.ended)
	}
	assert.Fail(s.t, text)
}

// take does a step.
func (s *sequence) take(st step) {
	a, b := s.names[st.node], s.names[st.other]
	hear := s.late
	s.late = nil
	switch st.op {
	case "register", "again", "unregister", "lock", "try":
		r := &request{step: st}
		r.pid = s.nodes[st.node].do(command{Op: st.op, ID: st.id, Name: st.name, Method: st.method})
		s.requests[st.id] = r
	case "unlock":
		s.nodes[st.node].do(command{Op: st.op, ID: st.id})
	case "end":
		s.requests[st.id].ended = true
		s.nodes[st.node].do(command{Op: st.op, ID: st.id})
	case "cut":
		s.w.sever(a, b, "")
		if s.plan.settled {
			s.must(s.parted(st.node, st.other))
		}
	case "late":
		s.w.sever(a, b, b)
		s.late = append(s.late, [2]int{st.node, st.other})
	case "stall":
		s.w.stall(a, b)
	case "mend":
		s.w.mend(a, b)
		if s.plan.settled {
			s.nodes[st.node].do(command{Op: "join", Node: s.full(st.other)})
		} else {
			s.connect(st.node, st.other)
		}
	case "disconnect":
		s.nodes[st.node].do(command{Op: st.op, Node: s.full(st.other)})
	case "kill":
		s.nodes[st.node].kill()
		s.nodes[st.node] = nil
		for _, r := range s.requests {
			r.gone = r.gone || r.node == st.node
		}
		if s.plan.settled {
			for i, n := range s.nodes {
				if n != nil {
					s.must(s.parted(i, st.node))
				}
			}
		}
	case "start":
		s.begin(st.node)
	case "rest":
		s.come("to rest", s.rest)
	case "whole":
		s.come("together", s.healed)
	case "looks":
		for range st.id {
			s.see(s.looks())
		}
	}
	for _, p := range hear {
		s.w.sever(s.names[p[0]], s.names[p[1]], "")
	}
}

// begin starts a node again, which connects to all others.
func (s *sequence) begin(i int) {
	s.start(i)
	for j, n := range s.nodes {
		if n != nil && i != j {
			s.connect(i, j)
		}
	}
}

// see notes what has become of clients.
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

// rest says what is under way: in a node, or an answer that is to come. A lock may be waited for.
func (s *sequence) rest(all map[int]view) string {
	s.see(all)
	for _, r := range s.requests {
		if r.Answer == "" && !r.gone && !r.ended && r.op != "lock" {
			return fmt.Sprintf("no answer yet: %v", r.step)
		}
	}
	return s.busy(all)
}

// healed says what is missing to a cluster in which all know all.
func (s *sequence) healed(all map[int]view) string {
	s.reconnect(all)
	if w := s.rest(all); w != "" {
		return w
	}
	return s.whole(all)
}

// must waits for something that ends soon.
func (s *sequence) must(wrong func(all map[int]view) string) {
	if w := s.wait(limit, wrong); w != "" {
		s.fail("%s", w)
	}
}

// come waits until the cluster comes to rest, or together. Pairs of OTP nodes may hang, see the package's document: their
// connection is ended then.
func (s *sequence) come(how string, wrong func(all map[int]view) string) bool {
	for range 5 {
		w := s.wait(limit/3, wrong)
		if w == "" {
			return true
		}
		all := s.looks()
		foreign := false
		for _, p := range s.hang(all) {
			foreign = true
			s.t.Logf("after step %d: %s and %s hang: %s, %s; %s; %s", s.now, s.names[p[0]], s.names[p[1]], s.kinds[p[0]],
				s.kinds[p[1]], s.sees(all, p[0], p[1]), s.sees(all, p[1], p[0]))
			if s.kinds[p[0]] == "erl" && s.kinds[p[1]] == "erl" {
				s.holes++
				s.nodes[p[0]].do(command{Op: "disconnect", Node: s.full(p[1])})
			}
		}
		if !foreign {
			s.must(wrong)
			return !s.t.Failed()
		}
	}
	if w := s.wait(hanging, wrong); w != "" {
		s.fail("it does not come %s: %s", how, w)
		return false
	}
	return true
}

// sees says what a node knows of another.
func (s *sequence) sees(all map[int]view, i, j int) string {
	v, other := all[i], s.full(j)
	return fmt.Sprintf("%s: connected %v, known %v, in sync %v, busy %q", s.names[i], slices.Contains(v.Nodes, other),
		slices.Contains(v.Known, other), slices.Contains(v.Synced, other), v.Busy)
}

// judge heals all and says what is wrong then.
func (s *sequence) judge() {
	for i := range s.names {
		for j := range i {
			s.w.mend(s.names[i], s.names[j])
		}
		if s.nodes[i] == nil {
			s.begin(i)
		}
	}
	if !s.come("together", s.healed) {
		return
	}
	if wrong := s.wait(patience, s.locks); wrong != "" {
		s.fail("locks: %s", wrong)
	}
	if wrong := s.wait(limit, s.released); wrong != "" {
		s.fail("locks are not released: %s", wrong)
		return
	}
	if wrong := s.wait(patience, s.tables); wrong != "" {
		s.fail("names: %s", wrong)
		return
	}
	for _, r := range s.requests {
		if !r.gone {
			r.ended = true
			s.nodes[r.node].do(command{Op: "end", ID: r.id})
		}
	}
	wrong := s.wait(patience, func(all map[int]view) string {
		for i, v := range all {
			if len(v.Names) > 0 || len(v.Shown) > 0 {
				return fmt.Sprintf("%s has %v", s.names[i], v.Names)
			}
		}
		return ""
	})
	if wrong != "" {
		s.fail("names of processes that are dead: %s", wrong)
	}
}

// holds reports whether a client has a lock.
func (r *request) holds() bool {
	return (r.op == "lock" || r.op == "try") && r.Answer == "true" && r.Alive && !r.gone && !r.ended
}

// locks says which lock nobody has.
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

// released unlocks all until nothing is locked and nobody waits.
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
	first := all[0]
	for i, v := range all {
		if !maps.Equal(v.Names, first.Names) {
			return fmt.Sprintf("%s has %v, %s has %v", s.names[0], first.Names, s.names[i], v.Names)
		}
		if slices.Sort(v.Shown); !slices.Equal(v.Shown, sortedKeys(v.Names)) {
			return fmt.Sprintf("%s shows %v, and finds %v", s.names[i], v.Shown, v.Names)
		}
	}
	for name, pid := range first.Names {
		if !s.registered(name, pid) {
			return fmt.Sprintf("%s is %s, which has not got it", name, pid)
		}
	}
	for _, r := range s.requests {
		named := (r.op == "register" || r.op == "again") && r.Answer == "yes" && r.Alive && !r.gone && !r.ended
		if named && first.Names[r.name] != r.pid && !r.Conflict && !s.taken(r) {
			return fmt.Sprintf("%s is %q, and was not taken from client %d", r.name, first.Names[r.name], r.id)
		}
	}
	return ""
}

// registered reports whether a process that is alive was given a name.
func (s *sequence) registered(name, pid string) bool {
	for _, r := range s.requests {
		if r.pid == pid && r.name == name && (r.op == "register" || r.op == "again") && r.Answer == "yes" && r.Alive && !r.gone {
			return true
		}
	}
	return false
}

// taken reports whether a request may have taken a name from a client: one that was made after the client's, or was not answered
// before it.
func (s *sequence) taken(c *request) bool {
	for _, r := range s.requests {
		if r.name == c.name && (r.op == "unregister" || r.op == "again") && r != c &&
			(r.id > c.id || r.Answer == "" || r.replied >= c.id-1) {
			return true
		}
	}
	return false
}
