package port

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A child inherits the user's variables, and none of the daemon's own.
func TestInherited(t *testing.T) {
	require.Equal(t, []string{"PATH=/bin", "HOME=/", "COOKIE=mine", "MY_ACTORNODE_COOKIE=x", "EMPTY="},
		inherited([]string{"PATH=/bin", "ACTORNODE_COOKIE=s", "ACTORNODE_COOKIE_FILE=f", "HOME=/", "ACTORNODE_RIGHTS_COOKIES=a=b",
			"CREDENTIALS_DIRECTORY=/run", "NOTIFY_SOCKET=@x", "WATCHDOG_USEC=1", "WATCHDOG_PID=1", "LISTEN_FDS=1", "LISTEN_PID=1",
			"LISTEN_FDNAMES=x", "COOKIE=mine", "MY_ACTORNODE_COOKIE=x", "EMPTY="}))
}
