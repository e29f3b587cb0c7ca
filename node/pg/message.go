package pg

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The words of pg.erl's messages; see the package's documentation.
const (
	discover wire.Atom = "discover"
	sync_    wire.Atom = "sync"
	join     wire.Atom = "join"
	leave    wire.Atom = "leave"
	genCast  wire.Atom = "$gen_cast"
)

// pidsTerm is PidOrPids: one process, or a list.
func pidsTerm(pids []node.PID) any {
	if len(pids) == 1 {
		return pids[0]
	}
	return pidList(pids)
}

func pidList(pids []node.PID) wire.List {
	l := make(wire.List, len(pids))
	for i, p := range pids {
		l[i] = p
	}
	return l
}

// readPIDs reads PidOrPids.
func readPIDs(t any) ([]node.PID, bool) {
	if p, ok := t.(node.PID); ok {
		return []node.PID{p}, true
	}
	l, ok := wire.AsList(t)
	if !ok {
		return nil, false
	}
	pids := make([]node.PID, len(l))
	for i, e := range l {
		if pids[i], ok = e.(node.PID); !ok {
			return nil, false
		}
	}
	return pids, true
}

// entry is one element of a sync.
type entry struct {
	group any
	pids  []node.PID
}

// readEntries reads [{Group, [Pid]}].
func readEntries(t any) ([]entry, bool) {
	l, ok := wire.AsList(t)
	if !ok {
		return nil, false
	}
	all := make([]entry, len(l))
	for i, e := range l {
		pair, ok := e.(wire.Tuple)
		if !ok || len(pair) != 2 {
			return nil, false
		}
		all[i].group = pair[0]
		if all[i].pids, ok = readPIDs(pair[1]); !ok {
			return nil, false
		}
	}
	return all, true
}

// handle does what a message from another scope process asks for. It reports whether t is such a message.
func (m *machine) handle(t wire.Tuple) bool {
	if len(t) < 2 {
		return false
	}
	from, ok := t[1].(node.PID)
	if !ok || from.Node() == m.self.Node() {
		return false
	}
	switch {
	case t[0] == discover && len(t) <= 3: // the third is the version of OTP 29: it speaks ours when answered without one
		m.discovered(from)
		return true
	case t[0] == join && len(t) == 4:
		pids, ok := readPIDs(t[3])
		if ok {
			m.joined(from, t[2], pids)
		}
		return ok
	case t[0] == leave && len(t) == 4:
		pids, ok := readPIDs(t[2])
		groups, ok2 := wire.AsList(t[3])
		if ok && ok2 {
			m.left(from, pids, groups)
		}
		return ok && ok2
	}
	return false
}

// handleCast is handle for casts.
func (m *machine) handleCast(t wire.Tuple) bool {
	if len(t) != 3 || t[0] != sync_ {
		return false
	}
	from, ok := t[1].(node.PID)
	entries, ok2 := readEntries(t[2])
	if !ok || !ok2 || from.Node() == m.self.Node() {
		return false
	}
	m.synced(from, entries)
	return true
}
