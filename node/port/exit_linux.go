package port

import "golang.org/x/sys/unix"

// awaitExit waits until a child has exited, and leaves it a zombie: its number, and its group's, is not reused until
// somebody waits for it. It reports whether it could.
func awaitExit(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}
