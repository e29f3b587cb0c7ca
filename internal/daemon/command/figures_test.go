package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// BenchmarkStart measures the time from the start of the daemon to /readyz, and its memory five seconds later: all
// resident memory, and the part of it that is not a page of the program's file. make figures prints it.
func BenchmarkStart(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("there is no /proc here")
	}
	binary := filepath.Join(b.TempDir(), "actornode")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "../../../cmd/actornode")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-pgo=off -buildvcs=false")
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	info, err := os.Stat(binary)
	require.NoError(b, err)
	var rss, anon float64
	for b.Loop() {
		addr := fmt.Sprint("127.0.0.1:", porttest.Reserve(b))
		cmd := exec.Command(binary, "start", "--name", "go@127.0.0.1")
		cmd.Env = []string{"HOME=" + b.TempDir(), "ACTORNODE_COOKIE=secret", "ACTORNODE_DISCOVERY_EPMD=false",
			fmt.Sprint("ACTORNODE_LISTEN_ERLANG=127.0.0.1:", porttest.Reserve(b)), "ACTORNODE_HTTP_LISTEN=" + addr}
		require.NoError(b, cmd.Start())
		testkit.Until(b, func() string {
			if got := readyz(addr); !strings.Contains(got, `"ready":true`) {
				return got
			}
			return ""
		})
		b.StopTimer()
		time.Sleep(5 * time.Second) // idle: this is measured
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		require.NoError(b, err)
		rss, anon = rss+kilobytes(b, string(status), "VmRSS"), anon+kilobytes(b, string(status), "RssAnon")
		require.NoError(b, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(b, cmd.Wait())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/start")
	b.ReportMetric(rss/1024/float64(b.N), "MiB-resident")
	b.ReportMetric(anon/1024/float64(b.N), "MiB-anonymous")
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

// kilobytes returns a field of /proc/PID/status.
func kilobytes(b *testing.B, status, field string) float64 {
	_, rest, ok := strings.Cut(status, field+":")
	require.True(b, ok, field)
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(b, err)
	return n
}

const (
	crowd    = 100_000 // processes that BenchmarkDrain ends
	visitors = 1_000   // nodes that are connected meanwhile
)

// exportCrowd lets a peer make a node start many processes, half of them event-driven.
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

// BenchmarkDrain measures the time from SIGTERM to the end of a daemon with 100,000 processes and 1,000 connections.
// make figures prints it.
func BenchmarkDrain(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		p := begin(b, "demo: true\n", "ACTORNODE_LOG_LEVEL=error").up() // with the demo it exports what the tests export
		var all []*node.Node
		for i := range visitors {
			n, err := node.Start(node.Config{Name: node.Atom(fmt.Sprintf("v%d@127.0.0.1", i)), Workers: 1, Stages: 1,
				Log:          slog.New(slog.DiscardHandler),
				Distribution: &node.Distribution{Cookie: "secret", Listen: "-", Finder: p.finder()}})
			require.NoError(b, err)
			require.NoError(b, n.Connect(testkit.Context(b), "go@127.0.0.1"))
			all = append(all, n)
		}
		n, err := rpc.Call[int](testkit.Context(b), all[0], "go@127.0.0.1", "test", "crowd")
		require.NoError(b, err)
		require.Equal(b, crowd, n)
		b.StartTimer()
		p.signal(syscall.SIGTERM)
		require.Equal(b, exitOK, p.end(), p.log.String())
		b.StopTimer()
		for _, n := range all {
			require.NoError(b, n.Stop())
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/drain")
}
