package pg

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// otp is pg.erl of OTP 25 line by line, crashes included, for the model test.
// Groups are strings.
type otp struct {
	w      *simNode
	self   node.PID
	ets    map[string]*[2][]node.PID // all, local
	local  map[node.PID]*otpLocal
	remote map[node.PID]*otpRemote
}

type otpLocal struct {
	ref    node.Ref
	groups []string
}

type otpRemote struct {
	ref    node.Ref
	groups map[string][]node.PID
}

// crash is the exit of pg.erl, with the reason that it would report.
type crash struct{ why string }

func fail(format string, args ...any) { panic(crash{fmt.Sprintf(format, args...)}) }

func newOTP(w *simNode, self node.PID) *otp {
	return &otp{w, self, map[string]*[2][]node.PID{}, map[node.PID]*otpLocal{}, map[node.PID]*otpRemote{}}
}

func minus(a, b []node.PID) []node.PID {
	r, _ := subtract(a, b)
	return r
}

func (o *otp) row(g string) *[2][]node.PID {
	if o.ets[g] == nil {
		o.ets[g] = &[2][]node.PID{}
	}
	return o.ets[g]
}

func (o *otp) broadcast(msg wire.Tuple) {
	for p := range o.remote {
		o.w.Send(p, msg)
	}
}

func (o *otp) join(g string, pids []node.PID) {
	for _, p := range pids {
		if l := o.local[p]; l != nil {
			l.groups = append([]string{g}, l.groups...)
		} else {
			o.local[p] = &otpLocal{o.w.Monitor(p), []string{g}}
		}
	}
	row := o.row(g)
	row[0], row[1] = append(slices.Clone(pids), row[0]...), append(slices.Clone(pids), row[1]...)
	o.broadcast(wire.Tuple{join, o.self, g, pidsTerm(pids)})
}

func (o *otp) leave(g string, pids []node.PID) {
	changed := false
	for _, p := range pids {
		l := o.local[p]
		if l == nil {
			continue
		}
		if i := slices.Index(l.groups, g); i >= 0 {
			changed = true
			if l.groups = slices.Delete(l.groups, i, i+1); len(l.groups) == 0 {
				o.w.DemonitorFlush(l.ref)
				delete(o.local, p)
			}
		}
	}
	if !changed {
		return
	}
	o.leaveLocalETS(g, pids)
	o.broadcast(wire.Tuple{leave, o.self, pidsTerm(pids), wire.List{g}})
}

func (o *otp) leaveLocalETS(g string, pids []node.PID) {
	row := o.ets[g]
	if row == nil {
		return
	}
	if row[0] = minus(row[0], pids); len(row[0]) == 0 {
		delete(o.ets, g)
		return
	}
	row[1] = minus(row[1], pids)
}

func (o *otp) leaveRemoteETS(pids []node.PID, groups []string) {
	for _, g := range groups {
		row := o.ets[g]
		if row == nil {
			continue
		}
		if row[0] = minus(row[0], pids); len(row[0]) == 0 && len(row[1]) == 0 {
			delete(o.ets, g)
		}
	}
}

func (o *otp) handle(msg any) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) < 2 {
		fail("badarg: %v", msg)
	}
	if t[0] == genCast {
		c := t[1].(wire.Tuple)
		if len(c) != 3 || c[0] != sync_ {
			fail("badarg: %v", c)
		}
		o.sync(c[1].(node.PID), c[2].(wire.List))
		return
	}
	peer := t[1].(node.PID)
	switch {
	case t[0] == discover && len(t) == 2:
		here := map[string][]node.PID{}
		for p, l := range o.local {
			for _, g := range l.groups {
				here[g] = append(here[g], p)
			}
		}
		list := wire.List{}
		for g, pids := range here {
			list = append(list, wire.Tuple{g, pidList(pids)})
		}
		o.w.Send(peer, wire.Tuple{genCast, wire.Tuple{sync_, o.self, list}})
		if o.remote[peer] == nil {
			o.remote[peer] = &otpRemote{o.w.Monitor(peer), map[string][]node.PID{}}
			o.w.Send(peer, wire.Tuple{discover, o.self})
		}
	case t[0] == join && len(t) == 4:
		if r := o.remote[peer]; r != nil {
			g, pids := t[2].(string), otpPIDs(t[3])
			row := o.row(g)
			row[0] = append(slices.Clone(pids), row[0]...)
			r.groups[g] = append(slices.Clone(pids), r.groups[g]...)
		}
	case t[0] == leave && len(t) == 4:
		if r := o.remote[peer]; r != nil {
			var groups []string
			for _, g := range t[3].(wire.List) {
				groups = append(groups, g.(string))
			}
			pids := otpPIDs(t[2])
			o.leaveRemoteETS(pids, groups)
			for _, g := range groups {
				have, ok := r.groups[g]
				if !ok {
					fail("badkey %q in leave_remote of %v", g, peer)
				}
				if r.groups[g] = minus(have, pids); len(r.groups[g]) == 0 {
					delete(r.groups, g)
				}
			}
		}
	default:
		fail("badarg: %v", t)
	}
}

func otpPIDs(t any) []node.PID {
	pids, ok := readPIDs(t)
	if !ok || len(pids) == 0 {
		fail("no pids: %v", t)
	}
	return pids
}

func (o *otp) sync(peer node.PID, entries wire.List) {
	r := o.remote[peer]
	if r == nil {
		r = &otpRemote{o.w.Monitor(peer), nil}
	}
	now := map[string][]node.PID{}
	old := r.groups
	for _, e := range entries {
		g, pids := e.(wire.Tuple)[0].(string), otpPIDs(e.(wire.Tuple)[1])
		before, had := old[g]
		delete(old, g)
		if had && !slices.Equal(before, pids) {
			row := o.ets[g]
			if row == nil {
				fail("badmatch [] in sync_groups for %q", g)
			}
			row[0] = append(slices.Clone(pids), minus(row[0], before)...)
		} else if !had {
			row := o.row(g)
			row[0] = append(slices.Clone(pids), row[0]...)
		}
		now[g] = pids
	}
	for g, pids := range old {
		o.leaveRemoteETS(pids, []string{g})
	}
	o.remote[peer] = &otpRemote{r.ref, now}
}

func (o *otp) down(d node.Down) {
	if d.PID.Node() == o.self.Node() {
		l := o.local[d.PID]
		if l == nil {
			return
		}
		if l.ref != d.Ref {
			fail("case_clause: a DOWN of an earlier monitor")
		}
		delete(o.local, d.PID)
		groups := wire.List{}
		for _, g := range l.groups {
			o.leaveLocalETS(g, []node.PID{d.PID})
			groups = append(groups, g)
		}
		o.broadcast(wire.Tuple{leave, o.self, d.PID, groups})
		return
	}
	r := o.remote[d.PID]
	if r == nil {
		return
	}
	if r.ref != d.Ref {
		fail("case_clause: a DOWN of an earlier monitor of a peer")
	}
	delete(o.remote, d.PID)
	for g, pids := range r.groups {
		o.leaveRemoteETS(pids, []string{g})
	}
}
