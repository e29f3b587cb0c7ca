package otp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// silentServices are those that do not answer system messages: OTP's user does not either.
var silentServices = map[node.Atom]bool{"user": true}

// allServices starts every service that this project has on a node, and returns their names.
func allServices(t *testing.T, n *node.Node) (names []node.Atom) {
	require.NoError(t, otp.Serve(n, otp.Config{Output: io.Discard}))
	_, err := pg.Start(t.Context(), n, pg.Config{})
	require.NoError(t, err)
	require.NoError(t, admin.Start(t.Context(), n, admin.Config{}))
	require.NoError(t, migrate.Start(t.Context(), n))
	for i := range n.Infos() {
		if n.Inside(process.Key{}).AskerOf(nil).Protected(i.PID) && i.Name != "" {
			names = append(names, i.Name)
		}
	}
	require.GreaterOrEqual(t, len(names), 8, "%v", names)
	return names
}

// Each service answers sys:get_state and get_status, whoever asks, and keeps working.
func TestServicesAnswerSystemMessages(t *testing.T) {
	c := clustertest.NewCluster(t)
	c.Speak("erlang")
	n, far := c.StartWith("a", node.Distribution{Published: global.Join(global.Config{})}), c.StartWith("b", node.Distribution{Published: global.Join(global.Config{})})
	c.Connect(n, far)
	for _, name := range allServices(t, n) {
		if silentServices[name] { // OTP's does not answer either
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			for _, from := range []*node.Node{n, far} {
				to := node.At{Name: name, Node: n.Name()}
				_, err := sys.GetState(testkit.Context(t), from, to)
				require.NoError(t, err)
				status, err := sys.GetStatus(testkit.Context(t), from, to)
				require.NoError(t, err)
				pid, _ := n.Whereis(name)
				require.Equal(t, wire.Tuple{node.Atom("status"), pid}, status.(wire.Tuple)[:2])
				require.Len(t, status, 4)
				require.Len(t, status.(wire.Tuple)[3], 5)
			}
			require.Error(t, sys.Suspend(testkit.Context(t), far, node.At{Name: name, Node: n.Name()}), "it is protected")
			require.NoError(t, n.Inside(process.Key{}).CheckServices(testkit.Context(t)))
		})
	}
	testkit.UntilTrue(t, func() bool {
		state, err := sys.GetState(testkit.Context(t), far, node.At{Name: "global_name_server", Node: n.Name()})
		require.NoError(t, err)
		return strings.Contains(fmt.Sprint(state), string(far.Name()))
	}, "the two know each other")
}

// OTP asks the services in its own words.
func TestServicesAnswerOTP(t *testing.T) {
	n, _, e := startBoth(t)
	for i := range n.Infos() {
		if !n.Inside(process.Key{}).AskerOf(nil).Protected(i.PID) || i.Name == "" || silentServices[i.Name] {
			continue
		}
		require.Equal(t, "true", e.Ask("is_tuple(sys:get_status({'%s', 'go@127.0.0.1'}))", i.Name), i.Name)
		require.NotContains(t, e.Ask("catch sys:get_state({'%s', 'go@127.0.0.1'})", i.Name), "EXIT", i.Name)
	}
}
