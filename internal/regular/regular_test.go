//go:build unix

package regular

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever a path leads to, Read returns, and reads only regular files no larger than the limit.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	whole := path("whole", "0123456789")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(whole, link))
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	huge := path("huge", "")
	require.NoError(t, os.Truncate(huge, 300<<20))
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"whole": {whole, nil}, "link": {link, nil}, "too large": {path("long", "01234567890"), ErrTooLarge}, "huge": {huge, ErrTooLarge},
		"pipe": {pipe, ErrNotRegular}, "folder": {dir, ErrNotRegular}, "device": {"/dev/zero", ErrNotRegular},
		"no size": {"/proc/self/status", ErrTooLarge}, "none": {filepath.Join(dir, "none"), fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			text, info, err := Read(c.path, 10)
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.Equal(t, "0123456789", string(text))
				_, foreign := Foreign(info)
				require.False(t, foreign)
			}
		})
	}
}

// A file system that does not answer holds nobody up for longer than the limit.
func TestReadFromADeadFileSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		begun := time.Now()
		_, _, err := read("/dead/file", 10, Limit, func(string) (*os.File, error) {
			<-answer
			return nil, fs.ErrNotExist
		})
		require.ErrorIs(t, err, ErrTooSlow)
		require.Equal(t, Limit, time.Since(begun))
		close(answer)
	})
}
