package port

import (
	"slices"
	"strings"
)

// ownVariables are for this process alone, besides those that begin with ACTORNODE_: they lead to systemd, and to the
// secrets that it has given to this process.
var ownVariables = []string{"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}

// inherited returns the variables of all that a child gets: all except those of the daemon itself. These begin with
// ACTORNODE_, and some of them are secrets: ACTORNODE_COOKIE, ACTORNODE_COOKIES, ACTORNODE_RIGHTS_COOKIES.
func inherited(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "ACTORNODE_") || slices.Contains(ownVariables, name)
	})
}
