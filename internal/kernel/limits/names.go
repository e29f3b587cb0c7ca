package limits

import (
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// DynamicNames are the names for nodes that request one, like erl with -name undefined. A released name is assigned again,
// with the next creation: so the number of names ever used is at most the maximum number of concurrent nodes, and so is the
// size of anything stored by name, such as a table of atoms or metrics. The caller of each method holds the lock that guards
// them.
type DynamicNames struct {
	free  map[string][]wire.NodeID // by host, the last released first
	count int                      // number of names in free
}

// maxFreeNames bounds the released names that are kept. A peer that knows the cookie can name any host.
const maxFreeNames = 4096

// minCreation is the smallest creation that OTP assigns to a node.
const minCreation = 4

// Take returns a name at the host. again reports that it has been used before. A new one is made of random, which becomes the
// part before the host, and creation.
func (n *DynamicNames) Take(host string, random uint64, creation uint32) (id wire.NodeID, again bool) {
	if free := n.free[host]; len(free) > 0 {
		id = free[len(free)-1]
		if n.count--; len(free) > 1 {
			n.free[host] = free[:len(free)-1]
		} else {
			delete(n.free, host)
		}
		return id, true
	}
	name := strings.ToUpper(strconv.FormatUint(random, 36)) + "@" + host // like OTP's
	return wire.NodeID{Name: wire.Atom(name), Creation: max(creation, minCreation)}, false
}

// Give releases a name. It ignores the zero NodeID.
func (n *DynamicNames) Give(id wire.NodeID) {
	_, host, ok := strings.Cut(string(id.Name), "@")
	if !ok || n.count >= maxFreeNames {
		return
	}
	id.Creation = max(id.Creation+1, minCreation)
	if n.free == nil {
		n.free = make(map[string][]wire.NodeID)
	}
	n.free[host] = append(n.free[host], id)
	n.count++
}
