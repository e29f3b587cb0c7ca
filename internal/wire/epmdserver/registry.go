package epmdserver

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxOld is the maximum number of names of former nodes that a registry remembers (measured at OTP 25).
const maxOld = 1002

// caller is the connection that sent a request.
type caller struct {
	id    uint64 // never reused; printed where OTP prints a file descriptor
	local bool   // on the same host
	port  uint16 // the local port of the connection
}

// verdict determines what happens to the connection after the answer.
type verdict uint8

const (
	closeConn verdict = iota // close it
	keep                     // the name is registered as long as it is open
	refused                  // the name is refused; give the caller some time to close it
	die                      // close it and end the server
)

// decision is the registry's answer to a request.
type decision struct {
	answer []byte  // may be empty
	then   verdict // of the caller's connection
	evict  uint64  // the caller whose connection must also be closed, or 0
	rival  uint64  // with refused: the caller that has the name, or 0 if there is another reason
	err    error   // ErrMalformed or ErrNotAllowed, if there is no answer
}

// registry is the pure half of a server: requests in, answers out.
//
// Invariants:
//
//  1. The names in live are distinct, and so are their callers.
//  2. No name is in both lists, or twice in old; old has at most maxOld.
//  3. Creations grow by at least one, starting at the time in seconds of the first; none is 0, and none is given twice
//     (until 2106).
type registry struct {
	relaxed bool
	live    []*record // in the order of registration
	old     []*record // in the order of their ends
	last    uint32    // the latest creation
}

// record is a live or former node.
type record struct {
	Registration
	creation uint32
	by       uint64
}

// decide answers one request; now is the time.
func (g *registry) decide(c caller, body []byte, now time.Time) decision {
	r, err := ParseRequest(body)
	if err != nil {
		return decision{err: err}
	}
	if !c.local && r.Op != OpPort && r.Op != OpNames {
		return decision{err: fmt.Errorf("%w: %v from another host", ErrNotAllowed, r.Op)}
	}
	switch r.Op {
	case OpAlive:
		return g.register(c, r.Registration, now)
	case OpPort:
		return decision{answer: g.lookup(r.Name)}
	case OpNames:
		return decision{answer: g.names(c.port)}
	case OpDump:
		return decision{answer: g.dump(c.port)}
	case OpKill:
		if len(g.live) > 0 && !g.relaxed {
			return decision{answer: []byte("NO")}
		}
		return decision{answer: []byte("OK"), then: die}
	default: // OpStop
		return g.forget(r.Name)
	}
}

func (g *registry) register(c caller, r Registration, now time.Time) decision {
	no := decision{
		answer: AliveAnswer{
			Wide: r.Wide(), Result: ResultRefused, Creation: CreationRefused,
		}.Append(nil),
		then: refused,
	}
	if !utf8.ValidString(r.Name) || utf8.RuneCountInString(r.Name) > MaxNameRunes ||
		len(r.Extra) > MaxExtra || strings.ContainsRune(r.Name, '\n') {
		return no
	}
	if i := find(g.live, r.Name); i >= 0 {
		no.rival = g.live[i].by
		return no
	}
	creation := max(g.last+1, uint32(now.Unix()), 1)
	if i := find(g.old, r.Name); i >= 0 {
		if !r.Wide() && creation16(creation) == creation16(g.old[i].creation) {
			creation++ // otherwise it would equal that of the last incarnation
		}
		g.old = remove(g.old, i)
	}
	g.last = creation
	g.live = append(g.live, &record{r, creation, c.id})
	a := AliveAnswer{Wide: r.Wide(), Creation: creation}
	if !a.Wide {
		a.Creation = creation16(creation)
	}
	return decision{answer: a.Append(nil), then: keep}
}

// creation16 returns the creation for nodes that support only 1, 2 and 3.
func creation16(creation uint32) uint32 { return creation%3 + 1 }

// release ends the registration of the caller id, if any. It must be called when the caller's connection ends.
func (g *registry) release(id uint64) {
	for i, r := range g.live {
		if r.by == id {
			g.retire(i)
			return
		}
	}
}

// retire moves live name i to the old ones.
func (g *registry) retire(i int) {
	if len(g.old) == maxOld {
		g.old = remove(g.old, 0)
	}
	g.old = append(g.old, g.live[i])
	g.live = remove(g.live, i)
}

func (g *registry) lookup(name string) []byte {
	p := PortAnswer{Result: 1}
	if i := find(g.live, name); i >= 0 {
		p = PortAnswer{Registration: g.live[i].Registration}
	}
	b, err := p.Append(nil)
	if err != nil {
		panic(err) // register accepts nothing that is too long
	}
	return b
}

func (g *registry) forget(name string) decision {
	if !g.relaxed {
		return decision{err: fmt.Errorf("%w: %v", ErrNotAllowed, OpStop)}
	}
	i := find(g.live, name)
	if i < 0 {
		return decision{answer: []byte("NOEXISTSTOPPED")} // both words, as in OTP
	}
	by := g.live[i].by
	g.retire(i)
	return decision{answer: []byte("STOPPED"), evict: by}
}

func (g *registry) names(port uint16) []byte {
	n := NamesAnswer{Port: uint32(port)}
	for i := range g.live {
		r := g.live[len(g.live)-1-i]
		n.Entries = append(n.Entries, Entry{Name: r.Name, Port: r.Port})
	}
	return n.Append(nil)
}

func (g *registry) dump(port uint16) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(port))
	for i := range g.live {
		r := g.live[len(g.live)-1-i]
		b = fmt.Appendf(b, "active name     <%s> at port %d, fd = %d\n\x00", r.Name, r.Port, r.by)
	}
	for _, r := range g.old {
		b = fmt.Appendf(b, "old/unused name <%s>, port = %d, fd = %d \n\x00", r.Name, r.Port, r.by)
	}
	return b
}

// find returns the index of name in l, or -1.
func find(l []*record, name string) int {
	for i, r := range l {
		if r.Name == name {
			return i
		}
	}
	return -1
}

// remove deletes l[i] and keeps the order.
func remove(l []*record, i int) []*record {
	copy(l[i:], l[i+1:])
	l[len(l)-1] = nil
	return l[:len(l)-1]
}
