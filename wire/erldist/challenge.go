package erldist

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/actornode/actornode/wire"
)

// challenges holds the open challenges of a node's handshakes. A proof is a digest of the cookie and a number, without the
// names of the nodes that make and check it. So an attacker that gets a challenge could send it back to the same node, over
// a connection that this node has dialed, and use the answer as its own proof.
//
// Invariants:
//
//  1. While a handshake is in progress, this node does not answer in another handshake a challenge that it has posed in
//     this one, on either side.
//  2. This node does not pose a challenge that it has answered to an unauthenticated peer, neither during that handshake
//     nor later, as far back as answered reaches. So an attacker cannot collect answers until their numbers come up.
//
// The zero value is ready to use. Several nodes of a program may share it.
type challenges struct {
	mu       sync.Mutex
	open     map[challenge]int       // posed or answered in current handshakes, with the number of these
	answered [2]*[groups / 64]uint64 // bit sets of groups with answered numbers; the newer set first
	bits     int                     // set bits in the newer set
}

// challenge is a number in a handshake of a node of this program.
type challenge struct {
	local  wire.Atom
	number uint32
}

const (
	groups     = 1 << 20    // of 4,096 numbers each: 128 KiB of bits
	mostGroups = groups / 4 // marked groups before the older set is dropped: at least half of all numbers can be posed
)

// issue draws a challenge. done must be called for it.
func (c *challenges) issue(local wire.Atom) (challenge, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		var random [4]byte
		if _, err := rand.Read(random[:]); err != nil {
			return challenge{}, fmt.Errorf("erldist: cannot make a random challenge: %w", err)
		}
		n := challenge{local, binary.BigEndian.Uint32(random[:])}
		if c.open[n] == 0 && !marked(c.answered[0], n.number) && !marked(c.answered[1], n.number) {
			c.beginLocked(n)
			return n, nil
		}
	}
}

// answer reports whether a challenge of a peer may be answered. If so, done must be
// called for it.
func (c *challenges) answer(n challenge) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[n] > 0 {
		return false
	}
	c.beginLocked(n)
	return true
}

func (c *challenges) beginLocked(n challenge) {
	if c.open == nil {
		c.open = make(map[challenge]int)
	}
	c.open[n]++
}

// done must be called at the end of the handshake. keep means that the number has been answered and the peer has not proved
// the cookie.
func (c *challenges) done(n challenge, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[n]--; c.open[n] == 0 {
		delete(c.open, n)
	}
	if !keep || marked(c.answered[0], n.number) {
		return
	}
	if c.answered[0] == nil || c.bits == mostGroups {
		c.answered[0], c.answered[1], c.bits = new([groups / 64]uint64), c.answered[0], 0
	}
	g := n.number / (1 << 32 / groups)
	c.answered[0][g/64] |= 1 << (g % 64)
	c.bits++
}

func marked(bits *[groups / 64]uint64, n uint32) bool {
	g := n / (1 << 32 / groups)
	return bits != nil && bits[g/64]&(1<<(g%64)) != 0
}
