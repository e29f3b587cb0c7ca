//go:build unix

package port

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the program the leader of a new process group, so that
// what it starts can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals a program and what it has started, unless that has left the
// group.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }

func errnoName(e syscall.Errno) string { return unix.ErrnoName(e) }

// endOf says how a program has ended.
func endOf(s *os.ProcessState) ended {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return ended{signal: unix.SignalName(w.Signal())}
	}
	return ended{code: s.ExitCode()}
}
