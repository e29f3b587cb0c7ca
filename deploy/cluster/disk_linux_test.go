package cluster_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logFolder is the folder of the log of nodes that have a small disk for it.
const logFolder = "/var/log/actornode"

// smallDisk puts the log into a file system of 256 KiB.
func (f *fault) smallDisk() *container {
	return f.others(3, tickTime, `services:
  node:
    environment: {ACTORNODE_LOG_FILE: `+logFolder+`/log}
    tmpfs: ["`+logFolder+`:size=256k,mode=1777"]
`)
}

// diskFull fills the file system of the victim's log.
func (f *fault) diskFull() {
	folder := fmt.Sprintf("/proc/%d/root%s/", f.victim.pid, logFolder)
	read := func() string {
		b, err := os.ReadFile(folder + "log")
		require.NoError(f.t, err)
		return string(b)
	}
	say := func() { // makes the node log a line
		_, err := f.victim.cli("log", "level", "info")
		assert.NoError(f.t, err)
	}
	failures := func() float64 {
		n, err := f.victim.metric("actornode_log_write_failures_total")
		require.NoError(f.t, err)
		return n
	}
	assert.Zero(f.t, failures())
	fill, err := os.Create(folder + "fill")
	require.NoError(f.t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	require.ErrorIs(f.t, err, syscall.ENOSPC)
	require.NoError(f.t, fill.Close())
	until(f.t, func() string { // some lines still fit into the last block of the log
		if say(); failures() == 0 {
			return "all lines are written"
		}
		return ""
	})
	full := read()
	f.hold(10 * time.Second)
	say()
	assert.Equal(f.t, full, read())
	for _, path := range []string{"/livez", "/readyz"} {
		_, err := f.victim.get(path)
		assert.NoError(f.t, err)
	}
	f.t.Logf("%v lines could not be written", failures())
	require.NoError(f.t, os.Remove(folder+"fill"))
	say()
	until(f.t, func() string {
		if after := strings.TrimPrefix(read(), full); !strings.HasSuffix(after, "}\n") {
			return fmt.Sprintf("the log goes on with %q", after)
		}
		return ""
	})
}
