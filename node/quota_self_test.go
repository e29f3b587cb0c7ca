package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// gauged is a link that says of itself what a test wants.
type gauged struct {
	wire.Link
	buffered int
	sent     uint64
	unsent   int
	unsteady bool
}

func (g *gauged) Peer() wire.Peer                  { return wire.Peer{} }
func (g *gauged) Close() error                     { return nil }
func (g *gauged) Write(*wire.Frame) (int, error)   { return g.buffered, nil }
func (g *gauged) Gauge() (uint64, int)             { return 0, g.buffered }
func (g *gauged) Taken() (uint64, int, bool)       { return g.sent, g.unsent, !g.unsteady }
func (g *gauged) Flush(bool) (left int, err error) { return 0, nil }

// connectedTo returns peers of a node that has these limits, whose writers sleep.
func connectedTo(t *testing.T, d Distribution, links ...*gauged) (*Node, []*peer) {
	d.Cookie, d.Finder = "c", &Static{}
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &d})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	var peers []*peer
	for i, l := range links {
		p := newPeer(n, Atom([]string{"b@127.0.0.1", "c@127.0.0.1", "d@127.0.0.1"}[i]))
		p.link = l
		require.True(t, p.box.rest(l))
		peers = append(peers, p)
	}
	return n, peers
}

// While more waits for all peers than may, each is held to its share; what is sent or lost
// counts no longer.
func TestQuotaShares(t *testing.T) {
	const mib = 1 << 20
	a, b := &gauged{}, &gauged{}
	n, peers := connectedTo(t, Distribution{Queue: 8 * mib, Cluster: ClusterLimits{Queued: 10 * mib}}, a, b)
	q := &n.dist.quota
	put := func(p *peer, bytes int) bool {
		p.link.(*gauged).buffered = bytes
		full, err := p.box.put(nil, wire.Frame{Op: wire.OpSend})
		require.NoError(t, err)
		return full
	}
	assert.False(t, put(peers[0], 50<<10), "a little")
	assert.Zero(t, q.queued.Used(), "and nobody is told")
	assert.False(t, put(peers[0], 7*mib))
	assert.False(t, put(peers[1], 2*mib))
	assert.EqualValues(t, 9*mib, q.queued.Used())
	assert.False(t, put(peers[1], 3*mib), "all is taken")
	assert.True(t, put(peers[1], 5*mib+1), "more than all, and than its share")
	assert.EqualValues(t, 1, q.queued.Refused())
	assert.NotNil(t, peers[1].box.space(PID{}))
	assert.True(t, put(peers[0], 7*mib+quotaStep+1))
	a.buffered = 0
	peers[0].box.take(nil, 0) // in hand
	assert.True(t, q.queued.Over())
	peers[0].box.take(nil, 0) // sent
	assert.EqualValues(t, 5*mib+1, q.queued.Used())
	assert.False(t, put(peers[1], 7*mib))
	peers[1].box.close()
	assert.Zero(t, q.queued.Used())
	assert.Zero(t, q.busy.Load())
}

// When a peer is ended for what it does not take, by facts and no clock.
func TestQuotaLooks(t *testing.T) {
	const kib = 1 << 10
	limits := ClusterLimits{Answers: 100 * kib, Stall: time.Hour}
	start := time.Unix(1000, 0)
	type look struct {
		after   time.Duration
		waits   int // in the link
		answers int
		sent    uint64
		ends    string
		longest int // of the answers
	}
	for name, looks := range map[string][]look{
		"nothing is taken": {{0, 2 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 5, "", 0},
			{time.Minute, 2 * kib, 0, 5, "the peer took nothing for 1h0m0s while 2.0 KiB waited to be sent (limits.stall)", 0}},
		"something is": {{0, 2 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 6, "", 0}, {time.Minute, 2 * kib, 0, 6, "", 0}},
		"little waits": {{0, 1 * kib, 0, 5, "", 0}, {2 * time.Hour, 1 * kib, 0, 5, "", 0}, {59 * time.Minute, 2 * kib, 0, 5, "", 0}},
		"answers are taken at a good rate": {{0, 200 * kib, 200 * kib, 0, "", 0},
			{15 * time.Minute, 200 * kib, 200 * kib, 60 * kib, "", 0},
			{15 * time.Minute, 200 * kib, 200 * kib, 120 * kib, "", 0}},
		"too slowly": {{0, 200 * kib, 200 * kib, 0, "", 0}, {14 * time.Minute, 200 * kib, 200 * kib, 1, "", 0},
			{time.Minute, 200 * kib, 200 * kib, 40 * kib,
				"the peer does not read its answers: 200.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 0}},
		"one that is long": {{0, 500 * kib, 500 * kib, 0, "", 410 * kib}, {30 * time.Minute, 500 * kib, 500 * kib, 1, "", 410 * kib}},
		"far too many beside a long one": {{0, 900 * kib, 900 * kib, 0, "", 410 * kib}, {aMoment, 900 * kib, 900 * kib, 0,
			"the peer does not read its answers: 900.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 410 * kib}},
		"far too many, and some are taken": {{0, 500 * kib, 500 * kib, 0, "", 0}, {aMoment, 500 * kib, 500 * kib, 9, "", 0},
			{aMoment / 2, 500 * kib, 500 * kib, 9, "", 0}},
		"far too many": {{0, 500 * kib, 500 * kib, 0, "", 0}, {aMoment, 500 * kib, 500 * kib, 0,
			"the peer does not read its answers: 500.0 KiB of them wait, 100.0 KiB are allowed (limits.answers)", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &gauged{}
			_, peers := connectedTo(t, Distribution{Queue: kib, Cluster: limits}, l)
			p, now := peers[0], start
			for _, k := range looks {
				now = now.Add(k.after)
				l.buffered, l.sent, p.box.answers, p.box.longest = k.waits, k.sent, k.answers, k.longest
				why := p.lookAt(now)
				if k.ends == "" {
					require.NoError(t, why)
				} else {
					require.EqualError(t, why, k.ends)
				}
			}
		})
	}
	stuck := &gauged{buffered: 2 * kib} // what it held is in the hands of a pass that goes on
	_, peers := connectedTo(t, Distribution{Queue: kib, Cluster: limits}, stuck)
	_, err := peers[0].box.put(nil, wire.Frame{Op: wire.OpSend})
	require.NoError(t, err)
	stuck.buffered = 0
	require.NoError(t, peers[0].lookAt(start))
	require.EqualError(t, peers[0].lookAt(start.Add(time.Hour)),
		"the peer took nothing for 1h0m0s while 2.0 KiB waited to be sent (limits.stall)")
	l := &gauged{unsteady: true, buffered: 2 * kib}
	_, peers = connectedTo(t, Distribution{Queue: kib, Cluster: limits}, l)
	require.NoError(t, peers[0].lookAt(start))
	require.NoError(t, peers[0].lookAt(start.Add(2*time.Hour)), "the link has no connection for the moment")
}

// While more waits for all peers than may, a peer is ended whose answers are more than its
// share, though it might have as many otherwise.
func TestQuotaShareOfAnswers(t *testing.T) {
	const mib = 1 << 20
	_, peers := connectedTo(t, Distribution{Queue: 8 * mib, Cluster: ClusterLimits{Queued: 4 * mib, Answers: 16 * mib}}, &gauged{},
		&gauged{})
	now := time.Unix(1000, 0)
	wait := func(p *peer, answers int) error {
		p.box.answers = answers
		p.link.(*gauged).buffered = answers
		_, err := p.box.put(nil, wire.Frame{Op: wire.OpSend})
		require.NoError(t, err)
		return p.lookAt(now)
	}
	require.NoError(t, wait(peers[0], 3*mib), "all may have 4 MiB")
	require.NoError(t, wait(peers[1], 1*mib), "half of what all may have is more")
	require.EqualError(t, wait(peers[0], 5*mib),
		"the peer does not read its answers: 5.0 MiB of them wait, 2.0 MiB are allowed (limits.answers)")
	require.NoError(t, peers[1].lookAt(now))
}

// A peer that never acknowledges that links are gone is not kept for ever.
func TestQuotaUnacknowledged(t *testing.T) {
	n, peers := connectedTo(t, Distribution{Cluster: ClusterLimits{Links: 2}}, &gauged{})
	p, far := peers[0], wire.NewOrigin(wire.NodeID{Name: "b@127.0.0.1", Creation: 1})
	for i := range 5 {
		require.NoError(t, p.lookAt(time.Now()))
		pid, err := n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
		require.NoError(t, err)
		require.True(t, p.connectLink(n.lookup(pid), far.PID(uint64(i))))
		p.cutLink(pid.Number(), far.PID(uint64(i)))
	}
	require.ErrorContains(t, p.lookAt(time.Now()), "does not acknowledge")
}
