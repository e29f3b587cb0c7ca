//go:build unix

package contest

import (
	"os/exec"
	"syscall"
)

// isolate puts c into its own process group, so that killing it also kills its children, and a terminal's Ctrl-C reaches
// only this program.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return killGroup(c) }
}

func killGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
