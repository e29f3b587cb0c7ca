package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// one plays a test with one node.
func one(t *testing.T, set func(*settings), f func(t *testing.T, s *server)) {
	synctest.Test(t, func(t *testing.T) {
		nodetest.CheckLeaks(t)
		s := serve(t, nodetest.Start(t, node.Config{}), set)
		f(t, s)
		s.stop()
	})
}

// stop stops the tree, as the daemon does when it is told to end.
func (s *server) stop() {
	p := nodetest.NewProbe(s.t, s.node)
	p.Timeout = time.Minute
	ref := p.Monitor(s.top)
	s.node.Exit(s.top, node.Shutdown)
	p.ExpectDown(ref)
}

func TestThreeNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := three(t)
		ann, bob, cyd := s[0].enter("lobby", "ann"), s[1].enter("lobby", "bob"), s[2].enter("lobby", "cyd")
		other := s[0].enter("garden", "dan")
		everybody := []*person{ann, bob, cyd}
		for _, p := range everybody {
			p.sees("ann", "bob", "cyd")
		}
		other.sees("dan")
		for i, p := range everybody {
			text := fmt.Sprint("hello ", i)
			p.say(text)
			for _, to := range everybody {
				to.hears([]string{"ann", "bob", "cyd"}[i], text)
			}
		}
		other.say("is somebody here?")
		other.hears("dan", "is somebody here?") // and nothing of the lobby

		require.NoError(t, bob.Close(websocket.StatusNormalClosure, ""))
		ann.sees("ann", "cyd")
		second := s[2].enter("lobby", "ann") // with the same name: it stays until both are gone
		second.sees("ann", "cyd")
		require.NoError(t, ann.Close(websocket.StatusNormalClosure, ""))
		third := s[1].enter("lobby", "eve")
		third.sees("ann", "cyd", "eve")
	})
}

// What one sender says arrives in its order, on all nodes.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := three(t)
		ann, bob := s[0].enter("lobby", "ann"), s[1].enter("lobby", "bob")
		ann.sees("ann", "bob")
		bob.sees("ann", "bob")
		go func() {
			for i := range 50 {
				ann.say(fmt.Sprint(i))
			}
		}()
		for i := range 50 {
			ann.hears("ann", fmt.Sprint(i))
			bob.hears("ann", fmt.Sprint(i))
		}
	})
}

func TestNodeIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, s := three(t)
		ann, bob, cyd := s[0].enter("lobby", "ann"), s[1].enter("lobby", "bob"), s[2].enter("lobby", "cyd")
		for _, p := range []*person{ann, bob, cyd} {
			p.sees("ann", "bob", "cyd")
		}
		cluster.Cut(s[0].node, s[1].node)
		cluster.Cut(s[0].node, s[2].node)
		ann.sees("ann") // after the silence of a minute
		bob.sees("bob", "cyd")
		cyd.sees("bob", "cyd")
		ann.say("alone")
		ann.hears("ann", "alone")
		bob.say("without ann")
		cyd.hears("bob", "without ann")

		cluster.Heal(s[0].node, s[1].node)
		cluster.Heal(s[0].node, s[2].node)
		require.Empty(t, ann.sees("ann", "bob", "cyd"))
		for _, p := range []*person{bob, cyd} {
			for _, e := range p.sees("ann", "bob", "cyd") {
				require.Equal(t, "bob", e.From, "what ann has said alone must not come late")
			}
		}
		ann.say("back")
		bob.hears("ann", "back")
	})
}

func TestNodeDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := three(t)
		ann, cyd := s[0].enter("lobby", "ann"), s[2].enter("lobby", "cyd")
		ann.sees("ann", "cyd")
		require.NoError(t, s[2].node.Stop())
		cyd.closed()
		ann.sees("ann")
	})
}

func TestDrain(t *testing.T) {
	one(t, nil, func(t *testing.T, s *server) {
		var all []*person
		for i := range 20 {
			all = append(all, s.enter("lobby", fmt.Sprint("person ", i)))
		}
		silent := s.enter("lobby", "silent") // reads nothing, and answers no close frame
		synctest.Wait()
		began := time.Now()
		s.node.Exit(s.top, node.Shutdown)
		for _, p := range all {
			require.Equal(t, websocket.StatusGoingAway, p.closed())
		}
		s.stop()
		require.LessOrEqual(t, time.Since(began), 10*time.Second) // one that is silent delays the end, and does not prevent it
		require.NotEqual(t, websocket.StatusNormalClosure, silent.closed())
		_, _, err := s.dial("lobby", "late", "")
		require.Error(t, err)
	})
}

func TestSlowReader(t *testing.T) {
	one(t, func(s *settings) { s.Queue = 5 }, func(t *testing.T, s *server) {
		slow, ann := s.enter("lobby", "slow"), s.enter("lobby", "ann")
		ann.sees("ann", "slow")
		slow.sees("ann", "slow")
		for i := range 100 {
			ann.say(fmt.Sprint(i))
			ann.hears("ann", fmt.Sprint(i)) // the others do not wait for the slow one
		}
		synctest.Wait()
		dropped := s.dropped.Load()
		require.Equal(t, int64(95), dropped) // one is being written, four wait
		_, stats := s.get("/stats")
		require.JSONEq(t, `{"browsers": 2, "dropped": 95, "slow": 0}`, stats)

		slow.hears("ann", "0")
		e := slow.next()
		require.Equal(t, Event{Missed: 95, Who: []string{"ann", "slow"}}, e)
		for i := 96; i < 100; i++ {
			slow.hears("ann", fmt.Sprint(i))
		}
		ann.say("welcome back")
		slow.hears("ann", "welcome back")
	})
}

func TestStoppedReader(t *testing.T) {
	one(t, nil, func(t *testing.T, s *server) {
		stuck, ann := s.enter("lobby", "stuck"), s.enter("lobby", "ann")
		ann.sees("ann", "stuck") // the same list is being written to the other
		began := time.Now()
		ann.sees("ann")
		require.InDelta(t, s.Patience, time.Since(began), float64(time.Second))
		require.Equal(t, int64(1), s.slow.Load())
		require.Equal(t, websocket.StatusCode(-1), stuck.closed())
	})
}

func TestHostileInput(t *testing.T) {
	one(t, func(s *settings) { s.Connections = 3; s.Origins = []string{"friend.example"} }, func(t *testing.T, s *server) {
		ann := s.enter("lobby", "ann")
		ann.sees("ann")
		for origin, code := range map[string]int{
			"http://evil.example": http.StatusForbidden, "http://friend.example.evil": http.StatusForbidden,
			"https://friend.example": http.StatusSwitchingProtocols,
		} {
			conn, r, err := s.dial("lobby", "eve", origin)
			require.Equal(t, code, r.StatusCode, origin)
			if err == nil {
				conn.CloseNow()
			}
		}
		for _, name := range []string{"", strings.Repeat("x", 41), "a\x00b", "a\nb", "\xff", "\u202eann"} {
			_, r, err := s.dial("lobby", name, "")
			require.Error(t, err)
			require.Equal(t, http.StatusBadRequest, r.StatusCode, "%q", name)
			_, r, err = s.dial(name, "ann", "")
			require.Error(t, err)
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, r.StatusCode, "%q", name)
		}

		html := `<img src=x onerror=alert(1)>`
		eve := s.enter("lobby", html)
		ann.sees(html, "ann") // as it is: the page makes it text
		eve.say(html)
		ann.hears(html, html)
		require.NoError(t, eve.Write(t.Context(), websocket.MessageText, make([]byte, maxText+1)))
		require.Equal(t, websocket.StatusMessageTooBig, eve.closed())
		ann.sees("ann")

		eve = s.enter("lobby", "eve")
		require.NoError(t, eve.Write(t.Context(), websocket.MessageBinary, []byte{1}))
		require.Equal(t, websocket.StatusUnsupportedData, eve.closed())
		eve = s.enter("lobby", "eve")
		require.NoError(t, eve.Write(t.Context(), websocket.MessageText, []byte{0xff}))
		require.Equal(t, websocket.StatusUnsupportedData, eve.closed())
		ann.sees("ann")

		s.enter("lobby", "bob")
		s.enter("lobby", "cyd")
		_, r, err := s.dial("lobby", "dan", "")
		require.Error(t, err)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		ann.say("still here")
		ann.hears("ann", "still here")
	})
}

// A browser that sends quickly is read slowly.
func TestPace(t *testing.T) {
	one(t, func(s *settings) { s.Pace = time.Second }, func(t *testing.T, s *server) {
		ann, bob := s.enter("lobby", "ann"), s.enter("lobby", "bob")
		bob.sees("ann", "bob")
		began := time.Now()
		go func() {
			for range 10 {
				ann.say("x")
			}
		}()
		for range 10 {
			bob.hears("ann", "x")
		}
		require.Equal(t, 9*time.Second, time.Since(began).Truncate(time.Second))
	})
}

// If the process with the groups fails, browsers are told to come again.
func TestRoomsFail(t *testing.T) {
	one(t, nil, func(t *testing.T, s *server) {
		ann := s.enter("lobby", "ann")
		ann.sees("ann")
		rooms, ok := s.node.Whereis("rooms")
		require.True(t, ok)
		s.node.Exit(rooms, node.Kill)
		require.Equal(t, websocket.StatusGoingAway, ann.closed())
		children, err := supervisor.WhichChildren(t.Context(), s.node, s.top) // answered after the restart
		require.NoError(t, err)
		require.Len(t, children, 4)
		s.enter("lobby", "ann").sees("ann")
		require.Equal(t, int64(1), s.open.Load())
	})
}

func TestPage(t *testing.T) {
	one(t, nil, func(t *testing.T, s *server) {
		r, page := s.get("/")
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'self'")
		require.Contains(t, page, `<script src="chat.js" defer>`)
		require.NotContains(t, page, "onclick")
		r, script := s.get("/chat.js")
		require.Contains(t, r.Header.Get("Content-Type"), "javascript")
		for _, unsafe := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("} {
			require.NotContains(t, script, unsafe)
		}
		r, _ = s.get("/chat.css")
		require.Equal(t, http.StatusOK, r.StatusCode)
	})
}

func TestScript(t *testing.T) {
	js, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not installed: node, which reads the script of the page")
	}
	out, err := exec.Command(js, "--check", "page/chat.js").CombinedOutput()
	require.NoError(t, err, string(out))
}
