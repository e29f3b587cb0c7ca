package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// asLoad makes the test program act as one that has half of its memory in use and makes garbage.
const asLoad = "TEST_AS_LOAD"

const loadLimit = 256 << 20

func init() {
	if mode := os.Getenv(asLoad); mode != "" {
		debug.SetGCPercent(400)
		if mode == "with" {
			l := Set(0, os.LookupEnv)
			fmt.Println("limit", l.Bytes, l.From)
		}
		live := make([][]byte, 0, loadLimit/2>>20)
		for range cap(live) {
			live = append(live, filled())
		}
		for range 4 << 10 { // 4 GiB
			sink = filled()
		}
		fmt.Println("done", len(live))
		status, _ := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmHWM") {
				fmt.Print(line)
			}
		}
		os.Exit(0)
	}
}

var sink []byte

// filled returns memory that is resident.
func filled() []byte {
	b := make([]byte, 1<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}

// limited makes a cgroup with a limit, and returns the file to which processes are added. It skips the test where that
// is not possible.
func limited(t *testing.T, limit int) string {
	var why error
	for _, v := range []struct{ root, limit, controllers string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", ""}, {"/sys/fs/cgroup", "memory.max", "cgroup.subtree_control"},
	} {
		if v.controllers != "" {
			why = errors.Join(why, put(filepath.Join(v.root, v.controllers), "+memory"))
		}
		dir := filepath.Join(v.root, "actornode_test_"+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			why = errors.Join(why, err)
			continue
		}
		t.Cleanup(func() {
			testkit.Until(t, func() string { // the killed program must be gone
				if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err.Error()
				}
				return ""
			})
		})
		if err := put(filepath.Join(dir, v.limit), strconv.Itoa(limit)); err != nil {
			why = errors.Join(why, err)
			continue
		}
		for _, swap := range []string{"memory.memsw.limit_in_bytes", "memory.swap.max"} { // where there is swap
			put(filepath.Join(dir, swap), strconv.Itoa(limit))
		}
		return filepath.Join(dir, "cgroup.procs")
	}
	t.Skipf("SKIPPED: a cgroup with a limit of memory cannot be made here (it takes root and a cgroup file system that can be written): %v", why)
	return ""
}

// put writes a file that exists.
func put(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// load runs the program in the cgroup.
func load(t *testing.T, procs, mode string) (out string, err error) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", `echo $$ > "$0" && exec "$1"`, procs, self)
	cmd.Env = []string{asLoad + "=" + mode}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	return b.String(), err
}

// A program with half of its cgroup's memory in use survives, with GOGC=400 too; without a soft limit the kernel kills
// it.
func TestUnderALimit(t *testing.T) {
	testkit.From(t, testkit.Merge, "a limit on memory")
	if testkit.Race {
		t.Skip("SKIPPED: the race detector takes several times the memory, which Go's limit does not count")
	}
	procs := limited(t, loadLimit)
	out, err := load(t, procs, "with")
	require.NoError(t, err, out)
	require.Contains(t, out, fmt.Sprintf("limit %d cgroup\n", loadLimit-loadLimit/mostReserve))
	require.Contains(t, out, "done 128\n")
	t.Log(out)

	out, err = load(t, procs, "without")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, out)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "%v: %s", err, out)
}
