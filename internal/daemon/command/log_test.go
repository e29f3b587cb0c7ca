package command

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// A log file that cannot be reopened is reported on standard error; if the old file has been deleted, all later lines
// go there.
func TestLogThatCannotBeReopened(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "logs")
		require.NoError(t, os.Mkdir(dir, 0o700))
		cfg := config.Default()
		cfg.Name, cfg.Log.File = "go@h", filepath.Join(dir, "x.log")
		var errs logtest.Text
		l, err := newLog(cfg, &errs)
		require.NoError(t, err)
		l.Info("before")
		old, err := os.Open(cfg.Log.File)
		require.NoError(t, err)
		defer old.Close()
		require.NoError(t, os.Rename(cfg.Log.File, cfg.Log.File+".1"))
		if deleted {
			require.NoError(t, os.Remove(cfg.Log.File+".1"))
		}
		require.NoError(t, os.Rename(dir, dir+".away"))
		err = l.reopen()
		require.Error(t, err)
		l.lostFile(err, &errs)
		l.Info("after")
		b, err := io.ReadAll(old)
		require.NoError(t, err)
		require.Contains(t, errs.String(), "cannot open the log file anew")
		require.Contains(t, string(b), "before")
		if deleted {
			require.Contains(t, errs.String(), "msg=after")
			require.NotContains(t, string(b), "after")
		} else {
			require.Contains(t, string(b), "msg=after")
			require.NotContains(t, errs.String(), "msg=after")
		}
		require.NoError(t, os.Rename(dir+".away", dir))
		require.NoError(t, l.reopen())
		l.Info("again")
		b, err = os.ReadFile(cfg.Log.File)
		require.NoError(t, err)
		require.Contains(t, string(b), "msg=again")
		require.NoError(t, l.close())
	}
}
