package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

const (
	crowd    = 100_000 // processes that BenchmarkDrain ends
	visitors = 1_000   // nodes that are connected meanwhile
)

// exportCrowd lets a peer have a node start many processes, half of them event-driven.
func exportCrowd(n *node.Node) error {
	return rpc.Export(n, wire.Export{Module: "test", Function: "crowd"}, func(context.Context, []any) (any, error) {
		for i := range crowd {
			var err error
			if i%2 == 0 {
				_, err = n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
			} else {
				_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
			}
			if err != nil {
				return nil, err
			}
		}
		return crowd, nil
	})
}

// BenchmarkDrain is the time from SIGTERM to the end of a daemon with 100,000 processes and 1,000 connections. make
// figures prints it.
func BenchmarkDrain(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	quiet := slog.New(slog.DiscardHandler)
	for b.Loop() {
		b.StopTimer()
		port := fmt.Sprint(porttest.Reserve(b))
		cmd := exec.Command(self, "start", "--name", "go@127.0.0.1")
		cmd.Env = []string{asDaemon + "=1", "HOME=" + b.TempDir(), "ACTORNODE_COOKIE=secret", "ACTORNODE_DISCOVERY_EPMD=false",
			fmt.Sprint("ACTORNODE_LISTEN_ERLANG=127.0.0.1:", porttest.Reserve(b)), "ACTORNODE_LISTEN_NATIVE=127.0.0.1:" + port,
			"ACTORNODE_LOG_LEVEL=error", "ACTORNODE_DEMO=true"}
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, cmd.Start())
		b.Cleanup(func() { cmd.Process.Kill() })
		up, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(b, err)
		require.Contains(b, up, "is up")
		go io.Copy(io.Discard, out) // ends with the daemon
		to := &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{
			"go@127.0.0.1": {{Protocol: "native", Addr: "127.0.0.1:" + port}}}}
		var all []*node.Node
		for i := range visitors {
			n, err := node.Start(node.Config{Name: node.Atom(fmt.Sprintf("v%d@127.0.0.1", i)), Workers: 1, Stages: 1, Log: quiet,
				Distribution: &node.Distribution{Cookie: "secret", Listen: "-", Finder: to}})
			require.NoError(b, err)
			require.NoError(b, n.Connect(nodetest.Soon(b), "go@127.0.0.1"))
			all = append(all, n)
		}
		n, err := rpc.Call[int](nodetest.Soon(b), all[0], "go@127.0.0.1", "test", "crowd")
		require.NoError(b, err)
		require.Equal(b, crowd, n)
		b.StartTimer()
		require.NoError(b, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(b, cmd.Wait())
		b.StopTimer()
		for _, n := range all {
			require.NoError(b, n.Stop())
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/drain")
}
