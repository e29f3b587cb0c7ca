package storm

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"
)

// network is everything between the nodes of a cluster. Each node has a port mapper of its own, which the test serves:
// it tells the node, for every other one, the port of a relay between these two. So both an OTP node and one of ours
// make all their connections through relays, and know nothing of it.
type network struct {
	t  testing.TB
	wg sync.WaitGroup // the goroutines of mappers and relays

	mu      sync.Mutex
	free    sync.Cond
	closed  bool
	doors   []net.Listener // of mappers and relays
	calls   map[net.Conn]bool
	nodes   map[string]epmdserver.Registration // by the name before the @
	holders map[string]net.Conn                // the connections that keep the nodes registered
	born    uint32                             // the last creation
	relays  map[way]int                        // their ports
	links   map[*link]bool
	cut     map[pair]bool
	stalled map[pair]bool

	bytes, frames atomic.Int64 // that have been relayed; frames of Erlang's protocol, without ticks
}

// pair is two nodes, the smaller name first.
type pair [2]string

func pairOf(a, b string) pair { return pair{min(a, b), max(a, b)} }

// way is how one node connects to another by a protocol.
type way struct{ from, to, protocol string }

// link is a connection of two nodes: two connections of the relay.
type link struct {
	between pair
	ends    map[string]net.Conn // by the node at that end
	late    string              // the node that is not to hear of the end yet
}

func newNetwork(t testing.TB) *network {
	w := &network{
		t: t, calls: map[net.Conn]bool{}, nodes: map[string]epmdserver.Registration{}, holders: map[string]net.Conn{}, born: 1000,
		relays: map[way]int{}, links: map[*link]bool{}, cut: map[pair]bool{}, stalled: map[pair]bool{},
	}
	w.free.L = &w.mu
	t.Cleanup(w.close)
	return w
}

func (w *network) close() {
	w.mu.Lock()
	w.closed = true
	for _, l := range w.doors {
		l.Close()
	}
	for c := range w.calls {
		c.Close()
	}
	w.free.Broadcast()
	w.mu.Unlock()
	w.wg.Wait()
}

// open listens, and serves each connection until it is closed. It returns the port.
func (w *network) open(serve func(c net.Conn)) (port int, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, l.Close()
	}
	w.doors = append(w.doors, l)
	w.wg.Go(func() { // ended by close
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { // ended by either end of the connection, or by close
				if w.keep(c) {
					serve(c)
					w.drop(c)
				}
			})
		}
	})
	return l.Addr().(*net.TCPAddr).Port, nil
}

// keep records a connection, so that close closes it. False: it is too late for that.
func (w *network) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		c.Close()
		return false
	}
	w.calls[c] = true
	return true
}

func (w *network) drop(c net.Conn) {
	c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, c)
}

// mapper serves the port mapper of a node and returns its port.
func (w *network) mapper(node string) int {
	w.t.Helper()
	port, err := w.open(func(c net.Conn) { w.serve(node, c) })
	require.NoError(w.t, err)
	return port
}

// serve answers one request of a node to its port mapper.
func (w *network) serve(node string, c net.Conn) {
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return
	}
	body := make([]byte, binary.BigEndian.Uint16(head[:]))
	if _, err := io.ReadFull(c, body); err != nil {
		return
	}
	q, err := epmdserver.ParseRequest(body)
	if err != nil {
		return
	}
	switch q.Op {
	case epmdserver.OpAlive:
		w.mu.Lock()
		w.born++
		w.nodes[q.Registration.Name], w.holders[q.Registration.Name] = q.Registration, c
		answer := epmdserver.AliveAnswer{Wide: q.Registration.Wide(), Creation: w.born}.Append(nil)
		w.mu.Unlock()
		c.Write(answer)
		io.Copy(io.Discard, c) // until the node ends
		w.mu.Lock()
		if w.holders[q.Registration.Name] == c {
			delete(w.nodes, q.Registration.Name)
			delete(w.holders, q.Registration.Name)
		}
		w.mu.Unlock()
	case epmdserver.OpPort:
		if b, err := w.lookup(node, q.Name).Append(nil); err == nil {
			c.Write(b)
		}
	}
}

// lookup returns the answer to a node about another: the ports of relays.
func (w *network) lookup(node, other string) epmdserver.PortAnswer {
	w.mu.Lock()
	r, ok := w.nodes[other]
	ok = ok && !w.cut[pairOf(node, other)]
	w.mu.Unlock()
	if !ok {
		return epmdserver.PortAnswer{Result: 1}
	}
	port, err := w.relay(way{node, other, "erlang"})
	var extra []string
	for field := range strings.SplitSeq(string(r.Extra), ",") {
		if protocol, _, has := strings.Cut(field, "="); has && err == nil {
			var p int
			p, err = w.relay(way{node, other, protocol})
			extra = append(extra, fmt.Sprint(protocol, "=", p))
		}
	}
	if err != nil {
		return epmdserver.PortAnswer{Result: 1}
	}
	r.Port, r.Extra = uint16(port), []byte(strings.Join(extra, ","))
	return epmdserver.PortAnswer{Registration: r}
}

// relay returns the port of a relay, which is opened by the first request for it.
func (w *network) relay(v way) (int, error) {
	w.mu.Lock()
	port, ok := w.relays[v]
	w.mu.Unlock()
	if ok {
		return port, nil
	}
	port, err := w.open(func(c net.Conn) { w.carry(v, c) })
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.relays[v] = port // if two are opened at the same time, both keep listening
	return port, nil
}

// target returns the port at which a node really listens for a protocol; 0: none, or the two are cut off from each
// other.
func (w *network) target(v way) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.nodes[v.to]
	if !ok || w.cut[pairOf(v.from, v.to)] {
		return 0
	}
	if v.protocol == "erlang" {
		return int(r.Port)
	}
	for field := range strings.SplitSeq(string(r.Extra), ",") {
		if port, ok := strings.CutPrefix(field, v.protocol+"="); ok {
			n, _ := strconv.Atoi(port)
			return n
		}
	}
	return 0
}

// carry relays one connection until either node ends it, or it is cut.
func (w *network) carry(v way, c net.Conn) {
	port := w.target(v)
	if port == 0 {
		return
	}
	there, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil || !w.keep(there) {
		return
	}
	l := &link{between: pairOf(v.from, v.to), ends: map[string]net.Conn{v.from: c, v.to: there}}
	w.mu.Lock()
	ok := !w.cut[l.between]
	if ok {
		w.links[l] = true
	}
	w.mu.Unlock()
	if ok {
		back := make(chan struct{})
		w.wg.Go(func() { // ended by the end of either connection, waited for here
			defer close(back)
			w.copy(l, c, there, &counter{last: 'a', count: v.protocol == "erlang"})
			w.end(l, v.from)
		})
		w.copy(l, there, c, &counter{last: 'r', count: v.protocol == "erlang"})
		w.end(l, v.to)
		<-back
	}
	w.drop(there)
	w.mu.Lock()
	delete(w.links, l)
	w.mu.Unlock()
}

// copy relays in one direction.
func (w *network) copy(l *link, to, from net.Conn, count *counter) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !w.pass(l) {
			return
		}
		w.bytes.Add(int64(n))
		w.frames.Add(count.add(buf[:n]))
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// end closes the connection of a relay to a node, once the node may hear of it.
func (w *network) end(l *link, node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l.late == node && !w.closed {
		w.free.Wait()
	}
	l.ends[node].Close()
}

// pass waits while the two nodes are stalled. False: the link is cut.
func (w *network) pass(l *link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.stalled[l.between] && !w.cut[l.between] && !w.closed {
		w.free.Wait()
	}
	return !w.cut[l.between] && !w.closed
}

// sever ends the connections of two nodes, and blocks new ones until mend. The node late hears of it only by the next
// sever or mend of the two; "": both hear of it now.
func (w *network) sever(a, b, late string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[pairOf(a, b)] = true
	w.endLocked(pairOf(a, b), late)
}

// isolate is sever between a node and all others, at the same time: what the node reports about the first that it
// misses reaches none of them.
func (w *network) isolate(node string, others []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range others {
		w.cut[pairOf(node, o)] = true
	}
	for _, o := range others {
		w.endLocked(pairOf(node, o), "")
	}
}

func (w *network) endLocked(p pair, late string) {
	delete(w.stalled, p)
	for l := range w.links {
		if l.between == p {
			l.late = late
			for node, c := range l.ends {
				if node != late {
					c.Close()
				}
			}
		}
	}
	w.free.Broadcast()
}

// mend lets two nodes connect again.
func (w *network) mend(a, b string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := pairOf(a, b)
	if w.cut[p] {
		w.endLocked(p, "")
		delete(w.cut, p)
	}
	delete(w.stalled, p)
	w.free.Broadcast()
}

// stall holds back what two nodes send each other, until mend or sever.
func (w *network) stall(a, b string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalled[pairOf(a, b)] = true
}

// counter counts the frames of one direction of a connection: those of the handshake have a length of two bytes, later
// ones a length of four. A frame of length 0 is a tick.
type counter struct {
	count bool
	last  byte // the first byte of the last frame of the handshake
	after bool // the handshake is over
	head  []byte
	skip  int // the rest of the frame
}

func (c *counter) add(b []byte) (frames int64) {
	for c.count && len(b) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			c.skip, b = c.skip-n, b[n:]
			continue
		}
		c.head, b = append(c.head, b[0]), b[1:]
		switch {
		case c.after && len(c.head) == 4:
			c.skip = int(binary.BigEndian.Uint32(c.head))
			if c.head = c.head[:0]; c.skip > 0 {
				frames++
			}
		case !c.after && len(c.head) == 3:
			c.skip, c.after = int(binary.BigEndian.Uint16(c.head))-1, c.head[2] == c.last
			c.head = c.head[:0]
		}
	}
	return frames
}
