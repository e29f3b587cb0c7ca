//go:build !unix

package port

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

// signalGroup ends the program itself: there are no groups, and no other signal.
func signalGroup(p *os.Process, s syscall.Signal) {
	if s == syscall.SIGKILL {
		_ = p.Kill()
	}
}

func errnoName(syscall.Errno) string { return "" }

func endOf(s *os.ProcessState) ended { return ended{code: s.ExitCode()} }
