//go:build unix

package attack

import "syscall"

// mistaken are signals that daemons get by mistake.
var mistaken = []syscall.Signal{syscall.SIGPIPE, syscall.SIGURG, syscall.SIGCHLD, syscall.SIGWINCH, syscall.SIGCONT}
