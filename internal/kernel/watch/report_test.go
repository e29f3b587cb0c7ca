package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/executor"
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

// task is a task of which only the name matters.
type task struct {
	executor.Task
	name string
}

func (t task) Name() string { return t.name }

// Handlers that run for too long are all named, if not too many a second; the stack of one that is held is not shown, because
// its worker may run another by then.
func TestBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		l := new(watch.Reports)
		l.Init(log.Logger(), env.Env{}, func(string, ...string) {})
		l.Blocked(executor.Blocked{Task: task{name: "first"}}, 1)
		require.NotContains(t, log.String(), "not searched")
		l.Blocked(executor.Blocked{Task: task{name: "second"}}, 2)
		require.NotContains(t, log.Take(), "second")
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		require.Contains(t, log.Take(), `process=second stage=0 noticed_after=0s total=2 stack="not searched: that of another was`)
		time.Sleep(time.Second)
		synctest.Wait()
		l.Blocked(executor.Blocked{Task: task{name: "third"}}, 3)
		require.NotContains(t, log.String(), "not searched")
	})
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
