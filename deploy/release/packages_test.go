package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

func TestDeb(t *testing.T) {
	testkit.Program(t, testkit.Night, "dpkg-deb")
	deb := one(t, ".deb")
	fields := run(t, "dpkg-deb", "--field", deb)
	for _, f := range []string{"Package: actornode\n", "Version: 1.2.3~rc.1\n", "Depends: passwd\n",
		"Description: node of an Erlang cluster"} {
		assert.Contains(t, fields, f)
	}
	listing := run(t, "dpkg-deb", "--contents", deb)
	for _, line := range strings.Split(strings.TrimSpace(listing), "\n") {
		assert.Regexp(t, `^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) root/root +\d+ 2026-01-02 \d\d:04 \./`, line)
	}
	for _, path := range []string{"usr/bin/actornode", "usr/lib/systemd/system/actornode.service", "etc/actornode/actornode.yaml",
		"usr/share/man/man1/actornode-start.1.gz", "usr/share/bash-completion/completions/actornode",
		"usr/share/zsh/vendor-completions/_actornode", "usr/share/fish/vendor_completions.d/actornode.fish",
		"usr/share/doc/actornode/copyright"} {
		assert.Contains(t, listing, " ./"+path+"\n")
	}
	assert.Equal(t, 1, strings.Count(listing, "-rwxr-xr-x"), "only the program can be run")
	dir := t.TempDir()
	run(t, "dpkg-deb", "--raw-extract", deb, dir)
	conffiles, err := os.ReadFile(filepath.Join(dir, "DEBIAN/conffiles"))
	require.NoError(t, err)
	assert.Equal(t, "/etc/actornode/actornode.yaml\n", string(conffiles))
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		run(t, "sh", "-n", filepath.Join(dir, "DEBIAN", script))
	}
	checkInstalled(t, dir)
}

// checkInstalled checks the files of a package below dir with the program among them.
func checkInstalled(t *testing.T, dir string) {
	binary := filepath.Join(dir, "usr/bin/actornode")
	cookie := filepath.Join(t.TempDir(), "cookie")
	require.NoError(t, os.WriteFile(cookie, []byte("secret\n"), 0o600))
	check := exec.CommandContext(t.Context(), binary, "check", "--elsewhere", filepath.Join(dir, "etc/actornode/actornode.yaml"))
	check.Env = append(os.Environ(), "ACTORNODE_COOKIE_FILE="+cookie) // as the unit sets it
	out, err := check.CombinedOutput()
	assert.NoError(t, err, "%s", out)
	unit, err := os.ReadFile(filepath.Join(dir, "usr/lib/systemd/system/actornode.service"))
	require.NoError(t, err)
	assert.Contains(t, string(unit), "\nExecStart=/usr/bin/actornode start --config /etc/actornode/actornode.yaml\n")
	assert.Contains(t, string(unit), "\nLoadCredential=cookie:/etc/actornode/cookie\n")
}

func TestLintian(t *testing.T) {
	testkit.Program(t, testkit.Night, "lintian")
	cmd := exec.CommandContext(t.Context(), "lintian", "--allow-root", "--fail-on=error,warning", one(t, ".deb"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestRPM(t *testing.T) {
	testkit.Program(t, testkit.Night, "rpm")
	rpm := one(t, ".rpm")
	query := func(args ...string) string {
		return run(t, "rpm", append(append([]string{"-q", "-p"}, args...), rpm)...)
	}
	assert.Equal(t, "actornode 1.2.3~rc.1 1 Apache-2.0 localhost 1767323045", query("--queryformat",
		"%{name} %{version} %{release} %{license} %{buildhost} %{buildtime}"))
	assert.Equal(t, "/etc/actornode/actornode.yaml\n", query("--configfiles"))
	files := query("--list")
	for _, path := range []string{"/usr/bin/actornode", "/usr/lib/systemd/system/actornode.service",
		"/usr/share/man/man1/actornode.1.gz", "/usr/share/zsh/site-functions/_actornode", "/usr/share/licenses/actornode/LICENSE"} {
		assert.Contains(t, files, path+"\n")
	}
	for line := range strings.Lines(query("--dump")) {
		// path size mtime digest mode owner group ...
		f := strings.Fields(line)
		assert.Equal(t, "1767323045 root root", f[2]+" "+f[5]+" "+f[6], line)
		assert.Regexp(t, `^(0100644|0100755|040755)$`, f[4], line)
	}
	scripts := query("--scripts")
	for _, kind := range []string{"postinstall", "preuninstall", "postuninstall"} {
		assert.Contains(t, scripts, kind+" scriptlet (using /bin/sh):\n")
	}
	for _, script := range []string{"post", "preun", "postun"} {
		run(t, "sh", "-n", "rpm/"+script)
	}
	assert.Contains(t, query("--requires"), "/usr/sbin/useradd\n")
	if _, err := exec.LookPath("cpio"); err == nil { // Debian: cpio, rpm2cpio
		dir := t.TempDir()
		run(t, "sh", "-c", `cd "$1" && rpm2cpio "$2" | cpio --quiet -id --no-absolute-filenames`, "sh", dir, rpm)
		checkInstalled(t, dir)
	}
}

// The unit may write only to what purge removes.
func TestPurgeRemovesWhatTheServiceWrites(t *testing.T) {
	unit, err := os.ReadFile("../systemd/actornode.service")
	require.NoError(t, err)
	purge, err := os.ReadFile("deb/postrm")
	require.NoError(t, err)
	at := map[string]string{"State": "/var/lib/", "Logs": "/var/log/", "Cache": "/var/cache/"}
	found := regexp.MustCompile(`(?m)^(State|Logs|Cache)Directory=(\S+)$`).FindAllStringSubmatch(string(unit), -1)
	require.Len(t, found, 2)
	for _, m := range found {
		assert.Regexp(t, `rm -rf .*`+at[m[1]]+m[2]+`\b`, string(purge))
	}
}
