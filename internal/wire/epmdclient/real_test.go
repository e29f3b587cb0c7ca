package epmdclient

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/wire/epmd"
)

// eventually polls for a fact that only another process brings about.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	testkit.UntilTrue(t, fact, what)
}

// realEpmd returns the path of OTP's epmd; without one it skips the test, and it skips it below make merge.
func realEpmd(t *testing.T) string {
	testkit.From(t, testkit.Merge, "real OTP")
	if path, err := exec.LookPath("epmd"); err == nil {
		return path
	}
	if l, _ := filepath.Glob("/usr/lib/erlang/erts-*/bin/epmd"); len(l) > 0 {
		return l[0]
	}
	t.Skip("no epmd on PATH or below /usr/lib/erlang to compare with")
	return ""
}

// atPort returns a Config for port.
func atPort(port int) epmd.Config {
	c := quiet()
	c.Port = port
	return c
}

// environ returns our environment without the variables that epmd and erl would read.
func environ(more ...string) []string {
	env := more
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ERL_") {
			env = append(env, kv)
		}
	}
	return env
}

// startEpmd starts OTP's epmd at port, on loopback addresses only, and returns a function that kills it. The test's end
// does so too.
func startEpmd(t *testing.T, port int, args ...string) (kill func()) {
	cmd := exec.Command(realEpmd(t), append([]string{"-address", "127.0.0.1", "-port", strconv.Itoa(port)}, args...)...)
	cmd.Env = environ()
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { // ended by kill
		_ = cmd.Wait()
		close(ended)
	}()
	kill = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	t.Cleanup(kill)
	c := newClient(t, atPort(port))
	eventually(t, "epmd answers", func() bool {
		_, err := c.Names(t.Context(), "")
		return err == nil
	})
	return kill
}

// startOurs serves at a free port of 127.0.0.1, which nobody else gets when the server ends.
func startOurs(t *testing.T, cfg epmd.Config) (port int, s *epmdserver.Server) {
	port = porttest.Reserve(t)
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	require.NoError(t, err)
	s, stop := serve(t, cfg, l)
	t.Cleanup(func() { _ = stop() })
	return port, s
}

// step is a line of a transcript: a request sent on a connection of its own.
type step struct {
	what    string
	send    []byte
	raw     bool   // send has its length already, or a wrong one
	remote  bool   // from an address of this host that is not the server's
	forget  bool   // wait until the server has forgotten the name in send
	differs string // why ours does not act as OTP's does
}

// aliveOf returns the body of a registration with the given lengths.
func aliveOf(name string, highest, nameLen, extraLen int, extra string) []byte {
	b := []byte{byte(epmdserver.OpAlive), 0x12, 0x34, byte(epmdserver.Visible), 0}
	b = binary.BigEndian.AppendUint16(b, uint16(highest))
	b = binary.BigEndian.AppendUint16(b, 5)
	b = binary.BigEndian.AppendUint16(b, uint16(nameLen))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint16(b, uint16(extraLen))
	return append(b, extra...)
}

func reg(name string, highest int, extra string) []byte {
	return aliveOf(name, highest, len(name), len(extra), extra)
}

func steps() []step {
	q, x := strings.Repeat("q", 2000), strings.Repeat("\x00\xff", 1500)
	e := strings.Repeat("é", 300)
	l := []step{
		{what: "names of none", send: []byte("n")},
		{what: "dump of none", send: []byte("d")},
		{what: "register", send: reg("a", 6, "")},
		{what: "register another", send: reg("b", 6, "extra")},
		{what: "clash", send: reg("a", 6, "")},
		{what: "clash, old style", send: reg("a", 5, "")},
		{what: "register, old style", send: reg("c", 5, "")},
		{what: "version 0", send: reg("c0", 0, "")},
		{what: "version 7", send: reg("c7", 7, "")},
		{what: "no name", send: reg("", 6, "")},
		{what: "no name but an extra", send: reg("", 6, "x"), differs: "a node without a name is nobody"},
		{what: "NUL in a name", send: reg("x\x00y", 6, "")},
		{what: "name that is not UTF-8", send: reg("\xff\xfe", 6, "")},
		{what: "surrogate in a name", send: reg("\xed\xa0\x80", 6, "")},
		{what: "name in UTF-8", send: reg("é", 6, "")},
		{what: "newline in a name", send: reg("n\nn", 6, ""), differs: "it would forge lines of NAMES_REQ"},
		{what: "name of 254", send: reg(q[:254], 6, "")},
		{what: "name of 255", send: reg(q[:255], 6, "")},
		{what: "name of 256", send: reg(q[:256], 6, "")},
		{what: "name of 1021", send: reg(q[:1021], 6, "")},
		{what: "name of 255 characters", send: reg(e[:510], 6, "")},
		{what: "name of 256 characters", send: reg(e[:512], 6, "")},
		{what: "extra of 1020", send: reg("e1020", 6, x[:1020])},
		{what: "extra of 1021", send: reg("e1021", 6, x[:1021])},
		{what: "extra of 3000", send: reg("e3000", 6, x)},
		{what: "name cut", send: aliveOf("nl", 6, 5, 0, "")},
		{what: "name length too small", send: aliveOf("nls", 6, 2, 0, "")},
		{what: "extra cut", send: aliveOf("el", 6, 2, 3, "")},
		{what: "length bomb", send: aliveOf("lb", 6, 65535, 0, "")},
		{what: "bytes after", send: append(reg("tl", 6, ""), "tail"...)},
		{what: "names", send: []byte("n")},
		{what: "names and more", send: []byte("njunk")},
		{what: "dump", send: []byte("d")},
		{what: "kill", send: []byte("k")},
		{what: "stop", send: []byte("sa")},
		{what: "stop nobody", send: []byte("snobody")},
		{what: "stop without a name", send: []byte("s")},
		{what: "stop with NUL only", send: []byte("s\x00")},
		{what: "length 0", send: []byte{0, 0}, raw: true},
		{what: "length too small", send: []byte("\x00\x01nn"), raw: true},
		{what: "length and nothing", send: []byte("\xff\xff"), raw: true},
		{what: "largest request", send: []byte("n" + q + q[:1056])},
		{what: "too large a request", send: []byte("n" + q + q[:1057])},
	}
	for _, name := range []string{"a", "a\x00", "a\x00\x00", "a\x00b", "", "\x00", "b", "c", "c0", "c7", "é", "nobody", "\xff",
		"\xc3",
		"e1020", "e1021", "nl", "tl", q[:254], q[:254] + "\x00", q[:256], e[:512]} {
		l = append(l, step{what: fmt.Sprintf("look up %.8q of %d", name, len(name)), send: []byte("z" + name)})
	}
	for _, name := range []string{q[:255], e[:510]} {
		l = append(l, step{what: "look up 255 characters", send: []byte("z" + name),
			differs: "it can be registered, so it can be looked up"})
	}
	for op := range 256 {
		switch epmdserver.Op(op) {
		case epmdserver.OpAlive, epmdserver.OpPort, epmdserver.OpNames, epmdserver.OpDump, epmdserver.OpKill, epmdserver.OpStop:
		default:
			l = append(l, step{what: fmt.Sprint("op ", op), send: []byte{byte(op), 'a'}})
		}
	}
	for _, s := range []string{"za", "n", "d", "k", "sa", "\x01"} {
		l = append(l, step{what: "from elsewhere: " + s, send: []byte(s), remote: true})
	}
	l = append(l, step{what: "register from elsewhere", send: reg("far", 6, ""), remote: true})
	return append(l,
		step{what: "b ends", send: []byte("b"), forget: true},
		step{what: "dump with an old one", send: []byte("d")},
		step{what: "old one comes back", send: reg("b", 6, "again")},
		step{what: "dump with it back", send: []byte("d")})
}

// script plays the steps against the port mapper at port and writes down its answers. kept holds the connections that
// the port mapper leaves open.
type script struct {
	t      *testing.T
	port   int
	remote net.Addr // where steps from elsewhere come from, or nil
	kept   map[string]net.Conn
}

func (s *script) play(all []step) (transcript []string) {
	for _, st := range all {
		transcript = append(transcript, s.step(st))
	}
	for name, conn := range s.kept { // by now it is known which stayed open
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(s.t, err, os.ErrDeadlineExceeded, "%q is not kept open", name)
		require.NoError(s.t, conn.Close())
	}
	eventually(s.t, "all names are forgotten", func() bool { // the next script takes some of them again
		names, err := newClient(s.t, atPort(s.port)).Names(s.t.Context(), "")
		return err == nil && len(names) == 0
	})
	return transcript
}

var numbers = regexp.MustCompile(`fd = \d+`)

func (s *script) step(st step) string {
	if st.forget {
		name := string(st.send)
		require.NoError(s.t, s.kept[name].Close())
		delete(s.kept, name)
		eventually(s.t, name+" is forgotten", func() bool {
			_, err := newClient(s.t, atPort(s.port)).Lookup(s.t.Context(), "", name)
			return errors.Is(err, epmd.ErrNotFound)
		})
		return "gone"
	}
	d := net.Dialer{Timeout: testkit.Limit}
	if st.remote {
		d.LocalAddr = s.remote
	}
	conn, err := d.DialContext(s.t.Context(), "tcp", fmt.Sprint("127.0.0.1:", s.port))
	require.NoError(s.t, err)
	_ = conn.SetDeadline(time.Now().Add(testkit.Limit))
	b := st.send
	if !st.raw {
		b = append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
	}
	_, _ = conn.Write(b) // may fail: the peer may have hung up after the length
	got := make([]byte, 0, 65536)
	for {
		n, err := conn.Read(got[len(got):cap(got)])
		got = got[:len(got)+n]
		if a, _, aliveErr := epmdserver.ParseAlive(got); aliveErr == nil && b[2] == byte(epmdserver.OpAlive) {
			s.kept[st.what] = conn
			if a.Result == 0 {
				delete(s.kept, st.what)
				s.kept[string(st.send[11:11+int(st.send[10])])] = conn
				require.NotZero(s.t, a.Creation)
				require.True(s.t, a.Wide || a.Creation <= 3)
				a.Creation = 0
			}
			return fmt.Sprintf("kept: %x", a.Append(nil))
		}
		if err != nil {
			require.False(s.t, errors.Is(err, os.ErrDeadlineExceeded), "%s: no answer and no end", st.what)
			_ = conn.Close()
			// Only the port at which we asked and the descriptors may differ.
			got = bytes.Replace(got, binary.BigEndian.AppendUint32(nil, uint32(s.port)), []byte("PORT"), 1)
			return fmt.Sprintf("ended: %q", numbers.ReplaceAll(got, []byte("fd = N")))
		}
	}
}

// elsewhere returns an address of this host that is no loopback address, or nil.
func elsewhere(t *testing.T) net.Addr {
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return &net.TCPAddr{IP: ip.IP}
		}
	}
	return nil
}

// Our port mapper answers everything byte for byte as OTP's does.
func TestTranscriptsAreTheSame(t *testing.T) {
	port := porttest.Reserve(t)
	startEpmd(t, port)
	ours, _ := startOurs(t, quiet())
	all := steps()
	remote := elsewhere(t)
	if remote == nil {
		t.Log("no address but loopback: steps from elsewhere left out")
		for len(all) > 0 && all[len(all)-1].remote {
			all = all[:len(all)-1]
		}
	}
	// The steps that differ on purpose would make lists differ too: they come last, by themselves.
	var same, others []step
	for _, st := range all {
		if st.differs == "" {
			same = append(same, st)
		} else if st.send[0] == byte(epmdserver.OpAlive) {
			others = append(others, st)
		}
	}
	play := func(port int, l []step) []string {
		return (&script{t, port, remote, map[string]net.Conn{}}).play(l)
	}
	want, got := play(port, same), play(ours, same)
	for i, st := range same {
		assert.Equal(t, want[i], got[i], "%s", st.what)
	}
	want, got = play(port, others), play(ours, others)
	for i, st := range others {
		assert.NotEqual(t, want[i], got[i], "%s: no difference any more (%s)", st.what, st.differs)
	}
	long := step{send: reg(strings.Repeat("q", 255), 6, "")}
	look := step{send: append([]byte("z"), strings.Repeat("q", 255)...)}
	want, got = play(port, []step{long, look}), play(ours, []step{long, look})
	assert.Equal(t, want[0], got[0])
	assert.Equal(t, `ended: ""`, want[1], "OTP's cannot look up a name of 255 characters")
	assert.Contains(t, got[1], strings.Repeat("q", 255))
}

func TestRelaxedTranscriptsAreTheSame(t *testing.T) {
	port := porttest.Reserve(t)
	startEpmd(t, port, "-relaxed_command_check")
	cfg := quiet()
	cfg.Relaxed = true
	ours, _ := startOurs(t, cfg)
	var got [2][]string
	for i, port := range []int{port, ours} {
		s := &script{t, port, nil, map[string]net.Conn{}}
		for _, st := range []step{
			{send: reg("a", 6, "")}, {send: reg("b", 6, "")}, {send: []byte("sx")}, {send: []byte("s\x00")}, {send: []byte("sb\x00c")},
			{send: []byte("sa")}, {send: []byte("d")}, {send: []byte("s")},
		} {
			got[i] = append(got[i], s.step(st))
		}
		for _, name := range []string{"a", "b"} {
			_, err := s.kept[name].Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF, "the stopped node's connection")
		}
		got[i] = append(got[i], s.step(step{send: reg("a", 6, "")}), s.step(step{send: []byte("k")}))
		_, err := s.kept["a"].Read(make([]byte, 1))
		require.Error(t, err, "killed")
	}
	require.Equal(t, got[0], got[1])
}

func TestOurClientWithRealEpmd(t *testing.T) {
	port := porttest.Reserve(t)
	kill := startEpmd(t, port)
	ctx := t.Context()
	cfg := atPort(port)
	cfg.Retry = 20 * time.Millisecond
	c := newClient(t, cfg)

	want := Registration{Name: "cart", Port: 7, Hidden: true, Highest: 6, Lowest: 5,
		Extra: bytes.Repeat([]byte{0, 255}, epmdserver.MaxExtra/2)}
	a, err := c.Register(ctx, want)
	require.NoError(t, err)
	defer a.Stop()
	require.NotZero(t, a.Creation())
	for _, host := range []string{"", "127.0.0.1", "localhost", "::1"} {
		if host == "::1" && !hasIPv6() {
			continue
		}
		r, err := c.Lookup(ctx, host, "cart")
		require.NoError(t, err, host)
		require.Equal(t, want, r)
	}
	names, err := c.Names(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []Entry{{"cart", 7}}, names)
	dump, err := c.dump(ctx, "")
	require.NoError(t, err)
	require.Regexp(t, `^active name     <cart> at port 7, fd = \d+\n$`, dump)
	_, err = c.Register(ctx, want)
	require.ErrorIs(t, err, epmd.ErrRefused)
	_, err = c.Register(ctx, Registration{Name: "b", Extra: make([]byte, epmdserver.MaxExtra+1)})
	require.ErrorIs(t, err, epmd.ErrRefused)
	_, err = c.Register(ctx, Registration{Name: "b", Extra: make([]byte, epmdserver.MaxRequest)})
	require.Error(t, err)
	_, err = c.Lookup(ctx, "", "nobody")
	require.ErrorIs(t, err, epmd.ErrNotFound)
	require.ErrorIs(t, c.kill(ctx), errNotAllowed)
	require.ErrorIs(t, c.forget(ctx, "cart"), errHungUp)

	creation := a.Creation()
	kill()
	eventually(t, "the loss is seen", func() bool { return stateOf(a.Status()) == lost })
	kill = startEpmd(t, port)
	eventually(t, "registered again", func() bool { return stateOf(a.Status()) == registered })
	require.Equal(t, creation, a.Creation())
	a.Stop()
	eventually(t, "the name is given up", func() bool { return c.kill(ctx) == nil })
	eventually(t, "it is gone", func() bool {
		_, err := c.Names(ctx, "")
		return errors.Is(err, epmd.ErrUnreachable)
	})
	kill()
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// epmd's own command line, at our server and at the real one.
func TestEpmdCommands(t *testing.T) {
	program := realEpmd(t)
	realPort := porttest.Reserve(t)
	startEpmd(t, realPort, "-relaxed_command_check")
	cfg := quiet()
	cfg.Relaxed = true
	ours, _ := startOurs(t, cfg)
	var got [2]string
	for i, port := range []int{realPort, ours} {
		c := newClient(t, atPort(port))
		run := func(args ...string) {
			ctx := testkit.Context(t)
			cmd := exec.CommandContext(ctx, program, append([]string{"-port", strconv.Itoa(port)}, args...)...)
			cmd.Env = environ()
			out, err := cmd.CombinedOutput()
			got[i] += fmt.Sprintf("%v: %v\n%s", args, err, strings.ReplaceAll(string(out), strconv.Itoa(port), "PORT"))
		}
		run("-names")
		for _, name := range []string{"one", "two", "é"} {
			a, err := c.Register(t.Context(), Registration{Name: name, Port: 4711})
			require.NoError(t, err)
			defer a.Stop()
		}
		run("-names")
		run("-stop", "two")
		run("-stop", "nobody")
		run("-kill")
		eventually(t, "killed", func() bool {
			_, err := c.Names(t.Context(), "")
			return errors.Is(err, epmd.ErrUnreachable)
		})
		run("-names")
	}
	require.Equal(t, got[0], got[1])
	require.Contains(t, got[1], "epmd: up and running on port PORT with data:\nname é at port 4711\nname two at port 4711\n")
	require.Contains(t, got[1], "Killed")
}

func TestKeepersAndRealEpmd(t *testing.T) {
	port := porttest.Reserve(t)
	kill := startEpmd(t, port)
	cfg := atPort(port)
	cfg.Retry = 20 * time.Millisecond
	c := newClient(t, cfg)
	ctx := t.Context()
	one, err := c.Keep(ctx, Registration{Name: "one"})
	require.NoError(t, err)
	defer one.Stop()
	two, err := c.Keep(ctx, Registration{Name: "two"})
	require.NoError(t, err)
	defer two.Stop()
	require.False(t, one.Serving() || two.Serving())
	creations := []uint32{one.Creation(), two.Creation()}

	both := func() bool {
		names, err := c.Names(ctx, "")
		return err == nil && len(names) == 2
	}
	kill()
	eventually(t, "a keeper has taken over and both are there", func() bool {
		return one.Serving() != two.Serving() && both()
	})

	// A real epmd started now finds the port taken and goes away.
	cmd := exec.CommandContext(ctx, realEpmd(t), "-port", strconv.Itoa(port))
	cmd.Env = environ()
	require.NoError(t, cmd.Run())
	require.True(t, both())

	first, second := one, two
	if two.Serving() {
		first, second = two, one
	}
	first.Stop()
	eventually(t, "the other has taken over", second.Serving)
	eventually(t, "and is registered", func() bool { return stateOf(second.Status()) == registered })
	second.Stop()
	require.Equal(t, creations, []uint32{one.Creation(), two.Creation()})

	startEpmd(t, port)
	three, err := c.Keep(ctx, Registration{Name: "three"})
	require.NoError(t, err)
	require.False(t, three.Serving(), "the real one is back")
	three.Stop()
}
