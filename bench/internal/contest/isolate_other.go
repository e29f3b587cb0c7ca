//go:build !unix

package contest

import "os/exec"

// isolate does nothing: without process groups only the command itself is killed.
func isolate(*exec.Cmd) {}

func killGroup(c *exec.Cmd) error { return c.Process.Kill() }
