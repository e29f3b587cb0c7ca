package limits

import (
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// DynamicNames are those for nodes that ask for one, as an erl that is started with -name undefined. A name that is
// free again is given again, with the next creation: so no more names are ever used than there were such nodes
// at a time, and whoever keeps something by name, such as a table of atoms or of metrics, keeps no more than
// that. The caller of a method holds the lock that guards them.
type DynamicNames struct {
	free  map[string][]wire.NodeID // by host, the last one first
	count int                      // of these
}

// maxFreeNames bounds the free names that are kept. A peer that knows the cookie can say any host.
const maxFreeNames = 4096

// minCreation is the smallest creation that OTP gives to a node.
const minCreation = 4

// Take returns a name at the host. again: it has been used before. A fresh one is made of random, whose bits are its
// name before the host, and creation.
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
	name := strings.ToUpper(strconv.FormatUint(random, 36)) + "@" + host // as OTP's look
	return wire.NodeID{Name: wire.Atom(name), Creation: max(creation, minCreation)}, false
}

// Give says that a name is free again. The zero NodeID is none.
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
