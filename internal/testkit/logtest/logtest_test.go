package logtest_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit/logtest"
)

func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x logtest.Text
		go func() {
			time.Sleep(time.Second) // of the bubble: Await waits
			x.Printf("half %d", 1)
			time.Sleep(time.Second)
			x.Logger().Info("done", "half", 2)
			x.Logger().Debug("nobody sees it")
		}()
		start := time.Now()
		x.Await(t, "half=2")
		assert.Equal(t, 2*time.Second, time.Since(start))
		x.Await(t, "half 1")
		all := x.String()
		assert.Contains(t, all, "half 1\n")
		assert.NotContains(t, all, "nobody")
		assert.Equal(t, all, x.Take())
		assert.Empty(t, x.String())
	})
}

func TestRecords(t *testing.T) {
	var r logtest.Records
	log := slog.New(&r)
	log.Debug("a", "k", 1)
	log.Error("b")
	log.Info("a")
	assert.Equal(t, []map[string]any{
		{"msg": "a", "level": slog.LevelDebug, "k": int64(1)}, {"msg": "a", "level": slog.LevelInfo},
	}, r.With("a"))
	assert.Empty(t, r.With("c"))
	assert.Len(t, r.Take("b"), 1)
	assert.Empty(t, r.With("a"))
}
