//go:build unix

package contest

import (
	"os/exec"
	"syscall"
)

// isolate puts c into a process group of its own, so that killing it reaches its
// children, and a terminal's Ctrl-C reaches only us.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return killGroup(c) }
}

func killGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
