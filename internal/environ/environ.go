// Package environ says what a program that this one starts inherits of its environment.
package environ

import (
	"os"
	"slices"
	"strings"
)

// own are variables for this process alone, beside those that begin with ACTORNODE_: what leads to the secrets that systemd has
// given it, and to systemd itself.
var own = []string{"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}

// Inherited returns the variables that a child gets: all but those of the daemon itself. These begin with
// ACTORNODE_, and some of them are secrets: ACTORNODE_COOKIE, ACTORNODE_COOKIES, ACTORNODE_RIGHTS_COOKIES.
func Inherited() []string { return inherited(os.Environ()) }

func inherited(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "ACTORNODE_") || slices.Contains(own, name)
	})
}
