package supervisor_test

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
)

// A child whose id is a Go string has that name in logs, whatever bytes it has.
func TestTextID(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Intensity: 1, Children: []supervisor.Child{{ID: "tills", Start: echo}, {ID: "\xff", Start: echo}}})
		progress := records.Take("progress report")
		require.Len(s, progress, 2)
		assert.Equal(s, "tills", progress[0]["child"])
		assert.Equal(s, "\uFFFD", progress[1]["child"])
		s.crash(sup, "tills", "now")
		assert.Equal(s, "tills", records.Take("supervisor report")[0]["child"])
	})
}

// A crash is reported three times: by the process itself, with its stack, by its supervisor, with the child and the
// number of restarts, and as the progress report of its successor.
func TestReports(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		panics := func(...any) (node.Actor, error) {
			return node.ActorFunc(func(*node.Context, any) error { panic("ouch") }), nil
		}
		sup, err := supervisor.Start(background, s.self, supervisor.Spec{Intensity: 2, Children: []supervisor.Child{
			{ID: atomA, Start: panics, Options: node.Options{Name: "worker_a"}, Restart: supervisor.Transient},
			{ID: atomB, Start: echo},
		}}, node.Options{Link: true, Name: "boss"})
		require.NoError(s, err)
		progress := records.Take("progress report")
		require.Len(s, progress, 2)
		for i, id := range []any{atomA, atomB} {
			assert.Equal(s, slog.LevelInfo, progress[i]["level"])
			assert.Equal(s, "boss", progress[i]["supervisor"])
			assert.Equal(s, s.infos(sup)[id].PID.String(), progress[i]["process"])
		}
		assert.Equal(s, "a", progress[0]["child"])

		first := s.infos(sup)[atomA].PID
		s.crash(sup, atomA, "now")
		crash := records.With("crash report")
		require.Len(s, crash, 1)
		assert.Equal(s, first.String(), crash[0]["process"])
		assert.Equal(s, "worker_a", crash[0]["name"])
		assert.Equal(s, sup.String(), crash[0]["parent"])
		assert.Equal(s, "panic: ouch", crash[0]["reason"])
		assert.Contains(s, crash[0]["stack"], "TestReports")
		progress = records.With("progress report")
		require.Len(s, progress, 1)
		assert.Equal(s, s.infos(sup)[atomA].PID.String(), progress[0]["process"])
		assert.EqualValues(s, 1, progress[0]["restarts"])
		assert.Equal(s, slog.LevelError, crash[0]["level"])
		assert.Equal(s, "boss", crash[0]["supervisor"])
		assert.Equal(s, "child_terminated", crash[0]["context"])
		assert.Equal(s, "a", crash[0]["child"])
		assert.Equal(s, "restart the child", crash[0]["decision"])
		assert.Equal(s, "transient", crash[0]["restart"])
		assert.Empty(s, records.Take("supervisor report"), "one report a crash")

		s.crash(sup, atomA, "now")
		crash = records.Take("crash report")
		require.Len(s, crash, 1)
		assert.EqualValues(s, 1, crash[0]["restarts"], "so far")
		assert.Equal(s, 2, s.infos(sup)[atomA].Restarts)

		s.crash(sup, atomA, "now")
		crash = records.With("crash report")
		require.Len(s, crash, 1)
		assert.Contains(s, crash[0]["decision"], "the supervisor ends")
		report := records.Take("supervisor report")
		require.Len(s, report, 1)
		assert.Equal(s, "shutdown", report[0]["context"])
		assert.Equal(s, "reached_max_restart_intensity", report[0]["reason"])
		assert.Equal(s, node.Exited{From: sup, Reason: node.Shutdown}, s.self.Receive())
	})
}

// An expected exit is not reported.
func TestNoReports(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{
			{ID: atomA, Start: echo, Restart: supervisor.Transient},
			{ID: atomB, Start: echo, Restart: supervisor.Temporary},
			{ID: 1, Start: echo}, {ID: 2, Start: echo, Shutdown: supervisor.BrutalKill},
		}})
		s.crash(sup, atomA, node.Normal)
		s.crash(sup, atomB, tuple(node.Shutdown, 1))
		require.NoError(s, supervisor.TerminateChild(background, s.n, sup, 1))
		s.end(sup)
		assert.Empty(s, records.With("supervisor report"))
		assert.Empty(s, records.With("crash report"))
		assert.Len(s, records.Take("progress report"), 4)
	})
}

// A child that exits with another reason than it was told to is reported, and with its own reason, if it was faster.
func TestShutdownReports(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		normally := func(...any) (node.Actor, error) {
			return startFuncs{
				func(c *node.Context) error { c.TrapExit(true); return nil },
				func(*node.Context, any) error { return node.ErrStop },
			}, nil
		}
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{
			{ID: 1, Start: normally}, {ID: 2, Start: normally, Restart: supervisor.Transient},
			{ID: 3, Start: normally, Restart: supervisor.Temporary},
		}})
		s.end(sup)
		report := records.Take("supervisor report")
		require.Len(s, report, 1, "only a permanent child must not exit with normal")
		assert.Equal(s, "1", report[0]["child"])
		assert.Equal(s, "normal", report[0]["reason"])

		sup = s.start(supervisor.Spec{Strategy: supervisor.OneForAll, Children: []supervisor.Child{
			{ID: 1, Start: echo}, {ID: 2, Start: echo}, {ID: 3, Start: slow(time.Second)},
		}})
		two := s.infos(sup)[2].PID
		s.crash(sup, 1, atomA)
		require.NoError(s, s.n.Send(two, atomB)) // while 3 is being stopped
		time.Sleep(2 * time.Second)
		report = records.Take("supervisor report")
		require.Len(s, report, 2)
		assert.Equal(s, "child_terminated", report[0]["context"])
		assert.Equal(s, "a", report[0]["reason"])
		assert.Equal(s, "shutdown_error", report[1]["context"])
		assert.Equal(s, "b", report[1]["reason"])
		assert.Equal(s, 2, s.infos(sup)[1].Restarts+1, "one restart, of one child")
		s.end(sup)
	})
}

// Both children die before their supervisor hears of it.
func TestReportsOfTwoDead(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Strategy: supervisor.OneForAll,
			Children: []supervisor.Child{{ID: 1, Start: echo}, {ID: 2, Start: echo}}})
		infos := s.infos(sup)
		require.NoError(s, sys.Suspend(background, s.n, sup))
		require.NoError(s, s.n.Send(infos[1].PID, atomA))
		synctest.Wait()
		require.NoError(s, s.n.Send(infos[2].PID, atomB))
		synctest.Wait()
		require.NoError(s, sys.Resume(background, s.n, sup))
		synctest.Wait()
		report := records.Take("supervisor report")
		require.Len(s, report, 2)
		assert.Equal(s, "a", report[0]["reason"])
		assert.Equal(s, "b", report[1]["reason"])
		s.end(sup)
	})
}

// Failures to start are reported with the child, unless the caller that asked for the start gets the error.
func TestStartReports(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		fails := supervisor.Child{ID: atomA, Start: func(...any) (node.Actor, error) { return nil, errors.New("no") }}
		s.refuse(supervisor.Spec{Children: []supervisor.Child{fails}})
		report := records.Take("supervisor report")
		require.Len(s, report, 1)
		assert.Equal(s, "start_error", report[0]["context"])
		assert.Equal(s, "a", report[0]["child"])
		sup := s.start(supervisor.Spec{})
		_, err := supervisor.StartChild(background, s.n, sup, fails)
		require.Error(s, err)
		assert.Empty(s, records.Take("supervisor report"))
		s.end(sup)
		synctest.Wait()
	})
}
