package command

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/porttest"
)

// BenchmarkStart is the time from the start of the daemon to /readyz, and its memory five seconds later: all that is
// resident, and what of that is no page of the program's file. make figures prints it.
func BenchmarkStart(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("there is no /proc here")
	}
	binary := filepath.Join(b.TempDir(), "actornode")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "../../cmd/actornode")
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
		for {
			if r, err := http.Get("http://" + addr + "/readyz"); err == nil {
				r.Body.Close()
				if r.StatusCode == http.StatusOK {
					break
				}
			}
			time.Sleep(time.Millisecond)
		}
		b.StopTimer()
		time.Sleep(5 * time.Second)
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

// kilobytes is a field of /proc/PID/status.
func kilobytes(b *testing.B, status, field string) float64 {
	_, rest, ok := strings.Cut(status, field+":")
	require.True(b, ok, field)
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(b, err)
	return n
}
