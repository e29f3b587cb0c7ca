package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
)

// FarTables lists what the tables of a node's peers hold, except empty ones.
func FarTables(n *Node) string {
	s := ""
	for _, p := range n.dist.All() {
		p.Tables(func(t *peers.Tables) {
			if t.Counts() != (peers.Counts{}) {
				s += fmt.Sprintf("%s at %s: %v; ", p.Name, n.cfg.Name, t)
			}
		})
	}
	return s
}

// FarLinks returns the links of a process that are active in the tables of the
// peers.
func FarLinks(n *Node, pid PID) map[PID]bool {
	m := make(map[PID]bool)
	for _, p := range n.dist.All() {
		p.Tables(func(t *peers.Tables) {
			for _, l := range t.Active() {
				if l.Near == pid.Number() {
					m[l.Far] = true
				}
			}
		})
	}
	return m
}

// FarKept returns the nodes whose connection is over but still kept.
func FarKept(n *Node) (names []Atom) {
	for _, p := range n.peers.Recent() {
		if p.IsOver() {
			names = append(names, p.Name)
		}
	}
	return names
}

// FarUps returns how many processes are registered to be told of new nodes.
func FarUps(n *Node) int {
	return n.watchers.Len()
}

// FarWaiting returns how many bytes wait for the peers, as last seen.
func FarWaiting(n *Node) (sum int) {
	for _, p := range n.dist.All() {
		sum += p.Box.Level()
	}
	return sum
}

// FarProtocol returns the protocol that n speaks with a node, if they are connected.
func FarProtocol(n *Node, name Atom) (string, bool) {
	if p := n.peers.Get(name); p != nil && p.IsUp() {
		return p.Conn().Peer().Protocol, true
	}
	return "", false
}

// NamesRemembered returns how many names on other nodes a process remembers having linked to.
func NamesRemembered(n *Node, pid PID) int {
	p := n.sys.Lookup(pid)
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return len(p.NameLinksLocked())
}

// ProcessesThatRememberNames counts the processes for which NamesRemembered is not zero.
func ProcessesThatRememberNames(n *Node) (count int) {
	n.sys.ByName.Range(func(any, any) bool { count++; return true })
	return count
}

// LentCalls returns how many calls can be answered from elsewhere.
func LentCalls(n *Node) int { return n.sys.Lent.Len() }

// ForgetFutures makes a node forget what others know of its futures, as if it were long ago.
func ForgetFutures(n *Node) { n.futures.Expire(n.sys.Env.Now().Add(2 * calls.KeepFutures)) }

// Waiting is how many processes and goroutines wait for f.
func Waiting[R any](f *Future[R]) int { return f.w.Watching() }

// NotedWaits is how many waits are noted for finding cycles.
func NotedWaits(n *Node) int { return n.sys.Cycles.Len() }
