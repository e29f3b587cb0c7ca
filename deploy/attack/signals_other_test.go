//go:build !unix

package attack

import "syscall"

// mistaken are signals that daemons get by mistake: this system has none.
var mistaken []syscall.Signal
