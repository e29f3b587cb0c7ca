package watch_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Each letter is counted and sent to each stream; for each cause one a second is logged, except letters that cannot be
// sent.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		var log watch.DeadLetters
		log.Init(slog.New(slog.NewTextHandler(&text, nil)), env.Env{})
		small, large := log.Open(0), log.Open(10)
		for i := range 5 {
			log.Add(deadletter.Letter{Cause: deadletter.NoProcess, Name: "nobody", Message: i})
		}
		log.Add(deadletter.Letter{Cause: deadletter.NoAlias, Message: "other"})
		log.Add(deadletter.Letter{Cause: deadletter.NotATerm, Message: "its sender has the error"})
		time.Sleep(time.Second)
		synctest.Wait()
		require.Contains(t, text.String(), `cause=no_process message_type=int to=nobody not_logged=3`)
		log.Add(deadletter.Letter{Cause: deadletter.NoProcess, Name: "nobody", Message: 5})
		require.Equal(t, map[deadletter.Cause]uint64{deadletter.NoProcess: 6, deadletter.NoAlias: 1,
			deadletter.NotATerm: 1}, log.Counts())
		require.EqualValues(t, 7, small.Missed())
		require.Zero(t, large.Missed())
		large.Close()
		log.Close()
		all := 0
		for l := range large.C {
			require.False(t, l.At.IsZero())
			all++
		}
		require.Equal(t, 8, all)
		require.Equal(t, 4, strings.Count(text.String(), "dead letter"), text.String())
		_, open := <-log.Open(1).C
		require.False(t, open, "the log is closed")
	})
}

// A message or cast that is not sent becomes a letter; for all other frames somebody is told.
func TestFrame(t *testing.T) {
	letter, ok := watch.LetterOfFrame(dist.Frame{Op: dist.OpSend, Name: "x", Payload: 1}, deadletter.NotConnected)
	require.True(t, ok)
	require.Equal(t, deadletter.Letter{Cause: deadletter.NotConnected, Name: "x", Message: 1}, letter)
	f := erpc.NewFunction("b@h", "m", "f", []any{1})
	letter, ok = watch.LetterOfFrame(dist.Frame{Op: dist.OpSpawn, Spawn: f.Cast(wire.PID{})}, deadletter.NotATerm)
	require.True(t, ok)
	require.Equal(t, wire.Atom("erpc"), letter.Name)
	for _, f := range []dist.Frame{
		{Op: dist.OpSpawn, Spawn: f.Call(wire.Ref{}, wire.PID{})}, {Op: dist.OpLink}, {Op: dist.OpMonitor},
	} {
		_, ok = watch.LetterOfFrame(f, deadletter.NotConnected)
		require.False(t, ok)
	}
}
