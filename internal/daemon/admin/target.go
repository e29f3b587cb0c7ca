package admin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// target finds the process named by argument i; see Info.
func (q *request) target(i int) (node.PID, error) { return find(q.n, q.args[i]) }

// find finds a process of n by a PID, an atom, or text.
func find(n *node.Node, target any) (node.PID, error) {
	switch t := target.(type) {
	case wire.PID:
		return here(n, t)
	case wire.Atom:
		return named(n, t)
	}
	text, ok := wire.AsText(target)
	if !ok {
		return node.PID{}, fmt.Errorf("%w: %s is not a process: want a pid, a name, or text such as <0.12.0>", ErrBadRequest,
			brief(target))
	}
	if pid, ok, err := number(n, text); ok || err != nil {
		return pid, err
	}
	return named(n, node.Atom(text))
}

func named(n *node.Node, name node.Atom) (node.PID, error) {
	if pid, ok := n.Whereis(name); ok {
		return pid, nil
	}
	return node.PID{}, fmt.Errorf("%w: %s", node.ErrNoName, name)
}

// here checks that a process is alive on n.
func here(n *node.Node, pid node.PID) (node.PID, error) {
	switch {
	case n.IsAlive(pid):
		return pid, nil
	case pid.Node() != n.Name():
		return pid, fmt.Errorf("%w: %v is a process of %s: ask that node", node.ErrNotHere, pid, pid.Node())
	case !n.Inside(process.Key{}).Origin().Minted(pid):
		return pid, fmt.Errorf("%w: %v is from before a restart of the node", node.ErrNoProcess, pid)
	}
	return pid, fmt.Errorf("%w: %v", node.ErrNoProcess, pid)
}

// number parses <0.12.0>, <go@host.12.0>, 0.12.0 or 12, and reports whether text is one of these.
func number(n *node.Node, text string) (pid node.PID, ok bool, err error) {
	inner, left := strings.CutPrefix(text, "<")
	inner, right := strings.CutSuffix(inner, ">")
	if left != right {
		return pid, false, nil
	}
	parts := strings.Split(inner, ".")
	if len(parts) > 3 { // the node's name has dots
		k := len(parts) - 2
		parts = append([]string{strings.Join(parts[:k], ".")}, parts[k:]...)
	}
	if len(parts) == 1 && !left {
		parts = []string{"0", parts[0], "0"}
	}
	if len(parts) != 3 {
		return pid, false, nil
	}
	id, err1 := strconv.ParseUint(parts[1], 10, 32)
	serial, err2 := strconv.ParseUint(parts[2], 10, 32)
	if err1 != nil || err2 != nil {
		return pid, false, nil
	}
	switch at := node.Atom(parts[0]); {
	case at != "0" && at != n.Name() && !strings.Contains(parts[0], "@"):
		return pid, false, fmt.Errorf("%w: %s: cannot tell here which node %s is: ask that node", ErrBadRequest, text, at)
	case at != "0" && at != n.Name():
		return pid, false, fmt.Errorf("%w: %s is a process of %s: ask that node", node.ErrNotHere, text, at)
	}
	pid, err = here(n, n.Inside(process.Key{}).Origin().PID(serial<<32|id))
	return pid, true, err
}
