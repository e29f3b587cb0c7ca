package port

import (
	"slices"
	"strings"
)

// ownVariables are for this process alone, beside those that begin with ACTORNODE_: what leads to the secrets that systemd has
// given it, and to systemd itself.
var ownVariables = []string{"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}

// inherited returns of a process's variables those that a child gets: all but those of the daemon itself. These begin with
// ACTORNODE_, and some of them are secrets: ACTORNODE_COOKIE, ACTORNODE_COOKIES, ACTORNODE_RIGHTS_COOKIES.
func inherited(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "ACTORNODE_") || slices.Contains(ownVariables, name)
	})
}
