package gossip

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

func sample() member {
	return member{discovery.Announcement{Name: "go#1@10.0.0.7", Creation: 0xabc, Endpoints: []discovery.Endpoint{
		{Protocol: "native", Addr: "10.0.0.7:9101"}, {Protocol: "erlang", Addr: "[::]:4370"}, {Addr: "host:1"}}},
		time.UnixMilli(1700000000123)}
}

func TestMember(t *testing.T) {
	m := sample()
	meta, err := m.meta()
	require.NoError(t, err)
	assert.Equal(t, "go#1@10.0.0.7#00000abc", m.id())
	assert.Equal(t, "actornode/1 1700000000123 native://10.0.0.7:9101 erlang://:4370 host:1", string(meta))
	got, err := parse(m.id(), meta)
	require.NoError(t, err)
	m.Endpoints[1].Addr = "10.0.0.7:4370"
	assert.Equal(t, m, got)

	six := member{discovery.Announcement{Name: "go@fd00::1", Endpoints: []discovery.Endpoint{{Addr: "0.0.0.0:1"}}}, time.UnixMilli(0)}
	meta, err = six.meta()
	require.NoError(t, err)
	got, err = parse(six.id(), meta)
	require.NoError(t, err)
	assert.Equal(t, "[fd00::1]:1", got.Endpoints[0].Addr)

	for id, meta := range map[string]string{
		"":              "actornode/1 1",
		"a@h":           "actornode/1 1",
		"a@h#0000000g":  "actornode/1 1",
		"a@h#000000001": "actornode/1 1",
		"a@h#0000000A":  "actornode/1 1", // one life has one name
		"a@h#+0000001":  "actornode/1 1",
		"@h#00000001":   "actornode/1 1",
		"a#00000001":    "actornode/1 1",
		"a@#00000001":   "actornode/1 1",
		"a@h#00000001":  "",
		"b@h#00000001":  "actornode/2 1",
		"c@h#00000001":  "actornode/1",
		"d@h#00000001":  "actornode/1 x",
		"e@h#00000001":  "actornode/1 -1",
		"f@h#00000001":  "actornode/1 1 nowhere",
		"g@h#00000001":  "actornode/1 1  :1",
		"h@h#00000001":  "actornode/1 1 :0",
		"i@h#00000001":  "actornode/1 1" + strings.Repeat(" :1", maxEndpoints+1),
		"j@h#00000001":  "actornode/1 1 h:" + strings.Repeat("1", 600),
		"k@]h#00000001": "actornode/1 1 :1", // no host, though a name
		strings.Repeat("x", 3000) + "@h#00000001": "actornode/1 1",
	} {
		_, err := parse(id, []byte(meta))
		require.ErrorIs(t, err, errMember, "%.40q %.40q", id, meta)
		assert.Less(t, len(err.Error()), 500)
	}
}

// A member cut at every byte, or with any bit flipped, decodes to an error or a member, and never panics.
func TestMemberBroken(t *testing.T) {
	m := sample()
	meta, err := m.meta()
	require.NoError(t, err)
	for i := range meta {
		check(t, m.id(), meta[:i])
		for bit := range 8 {
			flipped := []byte(string(meta))
			flipped[i] ^= 1 << bit
			check(t, m.id(), flipped)
		}
	}
	for i := range m.id() {
		check(t, m.id()[:i], meta)
	}
}

func check(t *testing.T, id string, meta []byte) {
	m, err := parse(id, meta)
	if err != nil {
		require.ErrorIs(t, err, errMember)
		return
	}
	require.LessOrEqual(t, len(m.Endpoints), maxEndpoints)
	for _, e := range m.Endpoints {
		_, err := discovery.ParseEndpoint(e.String())
		require.NoError(t, err)
		require.False(t, strings.HasPrefix(e.Addr, ":"))
	}
}

func FuzzMember(f *testing.F) {
	m := sample()
	meta, _ := m.meta()
	f.Add(m.id(), meta)
	f.Add("a@h#00000001", []byte("actornode/1 1 :1"))
	f.Fuzz(func(t *testing.T, id string, meta []byte) { check(t, id, meta) })
}

func TestNewest(t *testing.T) {
	old, young := sample(), sample()
	young.incarnation = old.incarnation.Add(time.Millisecond)
	old.Creation = 0xffffffff
	twin := young
	twin.Creation++
	lives := []member{old, young, twin}
	newest(lives)
	assert.Equal(t, []member{twin, young, old}, lives)
}

// What strangers can cause is logged once a minute for each kind, the last with the time at which it came; changes of members are
// logged each time.
func TestBridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		b := newBridge(log.Logger())
		say := func(s string) string {
			n, err := b.Write([]byte(s + "\n"))
			require.NoError(t, err)
			require.Equal(t, len(s)+1, n)
			return log.Take()
		}
		const wrong = "[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from="
		line := say(wrong + "10.0.0.1:7")
		assert.Contains(t, line, "level=WARN msg=gossip text=\"Decrypt packet failed")
		assert.Contains(t, line, "has a different cookie")
		assert.NotContains(t, line, " at=")
		for range 5 {
			time.Sleep(time.Second)
			assert.Empty(t, say(wrong+"fd00::bad:77"))
		}
		at := time.Now()
		const none = "[ERR] memberlist: failed to receive: encryption is configured but remote state is not encrypted from=x"
		assert.Contains(t, say(none), "has no cookie")
		time.Sleep(quietTime - 5*time.Second)
		synctest.Wait()
		line = log.Take()
		assert.Equal(t, 1, strings.Count(line, "\n"))
		assert.Contains(t, line, "from=fd00::bad:77\"")
		assert.Contains(t, line, "at="+at.Format("2006-01-02T15:04:05.000Z07:00")+" not_logged=4\n")
		assert.Contains(t, say("[INFO] memberlist: Marking n1@h#1 as failed"), "level=INFO")
		assert.Contains(t, say("[INFO] memberlist: Marking n2@h#1 as failed"), "n2@h")
		assert.Empty(t, say("[DEBUG] memberlist: Stream connection"))
		assert.Contains(t, say("no level"), "level=INFO")
		b.close()
	})
}

// A line that is held is logged when the minute is over, when its kind has to give way to others, and at the end.
func TestHeldLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		b := newBridge(log.Logger())
		say := func(text string, port int) {
			fmt.Fprintf(b, "[WARN] memberlist: %s from=10.0.0.1:%d\n", text, port)
		}
		say("a", 1)
		say("a", 2)
		require.NotContains(t, log.Take(), ":2")
		time.Sleep(quietTime)
		synctest.Wait()
		require.Contains(t, log.Take(), "a from=10.0.0.1:2")
		say("a", 3)
		require.Empty(t, log.Take())
		for i := range 10 * maxKinds {
			say(strings.Repeat("x", i+1), 4)
			require.LessOrEqual(t, len(b.kinds), maxKinds)
		}
		require.Equal(t, 1, strings.Count(log.Take(), "a from=10.0.0.1:3"))
		say("b", 5)
		say("b", 6)
		require.NotContains(t, log.Take(), ":6")
		b.close()
		require.Contains(t, log.Take(), "b from=10.0.0.1:6")
		say("b", 7)
		say("c", 8)
		time.Sleep(time.Hour)
		require.Empty(t, log.Take())
	})
}

func TestKeys(t *testing.T) {
	a, err := keyOf("secret")
	require.NoError(t, err)
	b, err := keyOf("secreT")
	require.NoError(t, err)
	assert.Len(t, a, 32)
	assert.NotEqual(t, a, b)
	require.NoError(t, memberlist.ValidateKey(a))
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		says string
	}{
		{Config{}, "Cookie is empty"},
		{Config{Cookie: "x", OldCookies: []string{"y", ""}}, "OldCookies[1] is empty"},
		{Config{Cookie: "x", Pace: "fast"}, `Pace "fast": want local, lan or wan`},
		{Config{Cookie: "x", Retry: -1}, "must not be negative"},
		{Config{Cookie: "x", StreamTimeout: -1}, "must not be negative"},
		{Config{Cookie: "x", MaxStreams: 1, MaxStreamsPerSource: 2}, "MaxStreamsPerSource 2 is more than MaxStreams 1"},
		{Config{Cookie: "x", MaxStreamBytes: 4095}, "MaxStreamBytes 4095: want at least 4096"},
		{Config{Cookie: "x", MaxStreams: 1}, ""},
		{Config{Cookie: "x", MaxStreamsPerSource: 100}, ""},
		{Config{Cookie: "x", Seeds: []string{"h", ":1"}}, `Seeds[1] ":1"`},
		{Config{Cookie: "x", Seeds: []string{"h:0"}}, `want HOST:PORT or HOST`},
		{Config{Cookie: "x", Seeds: []string{""}}, `want HOST:PORT or HOST`},
		{Config{Cookie: "x", Bind: "h:x"}, `"x" is not a port`},
		{Config{Cookie: "x", Bind: "0.0.0.0:1"}, "set Config.Advertise"},
		{Config{Cookie: "x", Bind: "[::]:1", Advertise: ":1"}, "set Config.Advertise"},
		{Config{Cookie: "x", Bind: ":0", Advertise: "h:1"}, "the choice of the port"},
		{Config{Cookie: "x", Advertise: "h:0"}, "Advertise"},
		{Config{Cookie: "x", Bind: "0.0.0.0", Advertise: "10.0.0.1", Seeds: []string{"h", "::1", "[::1]:7", "a.b:1"}}, ""},
	} {
		_, err := New(c.cfg)
		if c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}

// The memory of lost members is bounded, in number and time.
func TestLost(t *testing.T) {
	tb := newTable()
	events := tb.listen()
	at := func(i int) *memberlist.Node {
		m := sample()
		m.Creation = uint32(i)
		m.Name = node.Atom(strings.Repeat("x", i+1) + "@h")
		meta, err := m.meta()
		require.NoError(t, err)
		return &memberlist.Node{Name: m.id(), Meta: meta, Addr: []byte{10, 0, byte(i >> 8), byte(i)}, Port: 7946}
	}
	for i := range maxLost + 100 {
		events.NotifyJoin(at(i))
		require.True(t, tb.isAt(addrOf(at(i))))
		events.NotifyLeave(at(i))
		require.False(t, tb.isAt(addrOf(at(i))))
	}
	assert.Equal(t, maxLost, tb.gone())
	assert.Empty(t, tb.lives)
	assert.Empty(t, tb.at)
	assert.Len(t, tb.missing(time.Now(), 3), 3)
	events.NotifyJoin(at(maxLost + 99))
	assert.Equal(t, maxLost-1, tb.gone(), "it is back")
	assert.Empty(t, tb.missing(time.Now().Add(2*lostTime), 3))
	assert.Zero(t, tb.gone())
}

// Events after the end are not recorded, and do not reach the next start.
func TestEar(t *testing.T) {
	m := sample()
	meta, err := m.meta()
	require.NoError(t, err)
	n := &memberlist.Node{Name: m.id(), Meta: meta, Addr: []byte{10, 0, 0, 1}, Port: 7946}
	tb := newTable()
	old := tb.listen()
	old.NotifyJoin(n)
	assert.Equal(t, []node.Atom{m.Name}, tb.list())
	tb.clear()
	assert.Empty(t, tb.list())
	for range 2 {
		old.NotifyJoin(n)
		old.NotifyUpdate(n)
		old.NotifyLeave(n)
		assert.Empty(t, tb.list())
		assert.Zero(t, tb.gone())
		assert.False(t, tb.isAt(addrOf(n)))
		tb.listen()
	}
}

// The cost of the list of a thousand members.
func BenchmarkList(b *testing.B) {
	tb := newTable()
	events := tb.listen()
	for i := range 1000 {
		m := sample()
		m.Name = node.Atom(strings.Repeat("x", i%200+1) + "@h" + string(rune('0'+i/200)))
		meta, _ := m.meta()
		events.NotifyJoin(&memberlist.Node{Name: m.id(), Meta: meta, Addr: []byte{10, 0, byte(i >> 8), byte(i)}, Port: 7946})
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(tb.list()) != 1000 {
			b.Fatal(len(tb.list()))
		}
	}
}
