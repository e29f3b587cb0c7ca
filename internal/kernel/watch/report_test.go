package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

func TestCode(t *testing.T) {
	type behaviour struct{}
	const here = "github.com/actornode/actornode/internal/kernel/watch_test"
	require.Equal(t, here, watch.CodeOf(behaviour{}))
	require.Equal(t, here, watch.CodeOf(&behaviour{}))
	require.Equal(t, here+".TestCode", watch.CodeOf(TestCode))
	require.Empty(t, watch.CodeOf((func())(nil)))
}

// Refusals are logged once a second, with the number of those that are not, and the last when the reports are closed.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		l := new(watch.Reports)
		l.Init(log.Logger(), env.Env{}, func(string, ...string) {})
		refuse := func() { l.Refused("b@h", "exit", "<0.5.0> rex") }
		refuse()
		require.Contains(t, log.String(), `peer=b@h signal=exit process="<0.5.0> rex" refused=1`)
		for range 9 {
			refuse()
		}
		require.Equal(t, 1, strings.Count(log.String(), "refused a signal"))
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		require.Contains(t, log.String(), "refused=9")
		l.NoRight("b@h", "", "send", "rex")
		l.NoRight("b@h", "", "send", "rex")
		refuse()
		l.Close()
		require.Equal(t, 3, strings.Count(log.String(), "refused a signal"))
		require.Equal(t, 2, strings.Count(log.String(), "it has no right to it"))
	})
}
