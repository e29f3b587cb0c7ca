package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

var installFlag = flag.Bool("release.install", false,
	"install the packages in a clean Debian, which debootstrap makes; needs root")

// suite is the release of Debian on which the .deb is tested.
const suite = "trixie"

// debian is a root folder with Debian in it, for one test.
type debian struct {
	t    *testing.T
	root string
}

// newDebian copies a clean Debian, which is made once and kept in the cache of the user.
func newDebian(t *testing.T) debian {
	if os.Getuid() != 0 {
		t.Skip("only root can enter a chroot: the .deb is not installed")
	}
	testkit.Program(t, testkit.Night, "debootstrap")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	clean := filepath.Join(cache, "actornode", "debian-"+suite)
	if _, err := os.Stat(clean); err != nil {
		fresh := clean + ".new"
		require.NoError(t, os.MkdirAll(filepath.Dir(clean), 0o755))
		require.NoError(t, os.RemoveAll(fresh))
		t.Logf("making Debian %s in %s", suite, clean)
		run(t, "sh", "-c", `
			mirror=${DEBIAN_MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\(http[^ ]*\).*/\2/p' \
				/etc/apt/sources.list /etc/apt/sources.list.d/debian* 2>/dev/null | grep debian | head -1)}
			exec debootstrap --variant=minbase "$1" "$2" ${mirror:+"$mirror"}`, "sh", suite, fresh)
		require.NoError(t, os.Rename(fresh, clean))
	}
	d := debian{t, filepath.Join(t.TempDir(), "root")}
	run(t, "cp", "-a", clean, d.root)
	return d
}

// do runs a shell command in the root and returns its output.
func (d debian) do(script string) string {
	out, err := d.try(script)
	require.NoError(d.t, err, "%s: %s", script, out)
	return out
}

func (d debian) try(script string) (string, error) {
	c := exec.CommandContext(d.t.Context(), "chroot", d.root, "/bin/sh", "-c", script)
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"}
	out, err := c.CombinedOutput()
	return string(out), err
}

// put copies a file into the root.
func (d debian) put(from, to string) {
	data, err := os.ReadFile(from)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(filepath.Join(d.root, to), data, 0o644))
}

// newer makes the package of a later version.
func newer(t *testing.T, f format) string {
	later := r(t)
	later.version, later.time = "v1.2.3", later.time.AddDate(0, 0, 1)
	return packed(t, later, f)
}

// packed makes a package of a release for this machine.
func packed(t *testing.T, of release, f format) string {
	dir := t.TempDir()
	to := target{"linux", runtime.GOARCH}
	binary := filepath.Join(dir, to.binary())
	require.NoError(t, of.build(t.Context(), to, binary))
	code, err := os.ReadFile(binary)
	require.NoError(t, err)
	docs, err := of.documents()
	require.NoError(t, err)
	require.NoError(t, of.pack(f, to, code, docs, dir))
	found, err := filepath.Glob(dir + "/*." + f.name)
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// The life of the package in a clean Debian: install, upgrade, remove, install again, purge.
func TestInstall(t *testing.T) {
	if !*installFlag {
		t.Skip("only with -release.install, as in make night")
	}
	d := newDebian(t)
	d.put(one(t, ".deb"), "/one.deb")
	d.put(newer(t, formats[0]), "/two.deb")
	state := func() string { return strings.TrimSpace(d.do("dpkg-query -W -f '${Status} ${Version}' actornode")) }
	const yaml, cookie = "/etc/actornode/actornode.yaml", "/etc/actornode/cookie"
	before := d.do("find / -xdev -not -path '/proc/*' -not -path '/var/*' | sort")

	d.do("dpkg -i /one.deb")
	assert.Equal(t, "install ok installed 1.2.3~rc.1", state())
	assert.Empty(t, d.do("dpkg --verify actornode"), "the files are those of the package")
	assert.Regexp(t, `^actornode:x:\d+:\d+::/var/lib/actornode:/usr/sbin/nologin\n$`, d.do("getent passwd actornode"))
	assert.Regexp(t, `^actornode [A-Z]+ `, d.do("passwd -S actornode"))
	assert.Equal(t, "600 root:root\n", d.do("stat -c '%a %U:%G' "+cookie))
	secret := d.do("cat " + cookie)
	assert.Regexp(t, `^[A-Za-z0-9+/]{20}\n$`, secret)
	assert.Empty(t, d.do("find /etc/systemd -name '*actornode*'"), "nothing is enabled")
	assert.Equal(t, "actornode version v1.2.3-rc.1\n", d.do("actornode --version"))
	// The daemon accepts the file and the cookie, as its user with a copy as systemd makes it.
	d.do("install -d -o actornode -g actornode /var/lib/actornode /var/log/actornode && " +
		"install -o actornode -g actornode -m 0400 " + cookie + " /var/lib/actornode/credential")
	d.do("ACTORNODE_COOKIE_FILE=/var/lib/actornode/credential " +
		"setpriv --reuid actornode --regid actornode --clear-groups actornode check --elsewhere " + yaml)

	// An upgrade keeps changed files, the cookie, and the user.
	user := d.do("getent passwd actornode")
	d.do("sed -i 's/^name: .*/name: changed@127.0.0.1/' " + yaml)
	d.do("dpkg -i /two.deb")
	assert.Equal(t, "install ok installed 1.2.3", state(), "the release is newer than what came before it")
	assert.Equal(t, "actornode version v1.2.3\n", d.do("actornode --version"))
	assert.Contains(t, d.do("cat "+yaml), "name: changed@127.0.0.1")
	assert.Equal(t, secret, d.do("cat "+cookie))
	assert.Equal(t, user, d.do("getent passwd actornode"))
	assert.Empty(t, d.do("ls /etc/actornode | grep -v -e '^actornode.yaml$' -e '^cookie$' || true"))

	// Remove leaves the configuration, and another installation uses it.
	d.do("dpkg -r actornode")
	assert.Equal(t, "deinstall ok config-files 1.2.3", state())
	assert.Equal(t, secret, d.do("cat "+cookie))
	_, err := d.try("test -e /usr/bin/actornode")
	assert.Error(t, err)
	d.do("dpkg -i /two.deb")
	assert.Contains(t, d.do("cat "+yaml), "name: changed@127.0.0.1")
	assert.Equal(t, secret, d.do("cat "+cookie))

	// Purge removes everything but the user, and the files that others have put into the folder.
	d.do("touch /var/log/actornode/log /etc/actornode/of-others")
	d.do("dpkg -P actornode")
	_, err = d.try("dpkg-query -W actornode")
	assert.Error(t, err, "dpkg knows nothing of it any more")
	assert.Equal(t, "/etc/actornode/of-others\n",
		d.do("find /etc/actornode -type f; find /var/lib /var/log -path '*actornode*' -not -path '*/dpkg/*'"))
	assert.Equal(t, user, d.do("getent passwd actornode"))
	d.do("rm -r /etc/actornode")
	after := d.do("find / -xdev -not -path '/proc/*' -not -path '/var/*' | sort")
	var left []string
	for line := range strings.Lines(after) {
		if !strings.Contains("\n"+before, "\n"+line) {
			left = append(left, strings.TrimSpace(line))
		}
	}
	assert.Subset(t, []string{"/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-",
		"/etc/.pwd.lock"}, left)
}

// The life of the other package: install, upgrade, remove. A Fedora system is not available here, so rpm works on a
// Debian from outside, where it runs the package's scripts; it cannot check the package's dependencies there.
func TestInstallRPM(t *testing.T) {
	if !*installFlag {
		t.Skip("only with -release.install, as in make night")
	}
	testkit.Program(t, testkit.Night, "rpm")
	d := newDebian(t)
	rpm := func(args ...string) string {
		return run(t, "rpm", append([]string{"--root", d.root, "--dbpath", "/var/lib/rpm", "--nodeps"}, args...)...)
	}
	state := func() string {
		return strings.TrimSpace(run(t, "rpm", "--root", d.root, "--dbpath", "/var/lib/rpm", "-qa"))
	}
	const yaml, cookie = "/etc/actornode/actornode.yaml", "/etc/actornode/cookie"

	rpm("-i", one(t, ".rpm"))
	assert.Regexp(t, `^actornode-1\.2\.3~rc\.1-1\.`, state())
	assert.Regexp(t, `^actornode:x:\d+:\d+::/var/lib/actornode:/sbin/nologin\n$`, d.do("getent passwd actornode"))
	assert.Equal(t, "600 root:root\n", d.do("stat -c '%a %U:%G' "+cookie))
	secret := d.do("cat " + cookie)
	assert.Regexp(t, `^[A-Za-z0-9+/]{20}\n$`, secret)
	assert.Empty(t, d.do("find /etc/systemd -name '*actornode*'"), "nothing is enabled")
	assert.Equal(t, "actornode version v1.2.3-rc.1\n", d.do("actornode --version"))
	d.do("ACTORNODE_COOKIE_FILE=" + cookie + " actornode check --elsewhere " + yaml)

	d.do("sed -i 's/^name: .*/name: changed@127.0.0.1/' " + yaml)
	rpm("-U", newer(t, formats[1]))
	assert.Regexp(t, `^actornode-1\.2\.3-1\.\w+$`, state(), "the release is newer than what came before it")
	assert.Contains(t, d.do("cat "+yaml), "name: changed@127.0.0.1")
	assert.Equal(t, secret, d.do("cat "+cookie))
	assert.Equal(t, "actornode version v1.2.3\n", d.do("actornode --version"))

	rpm("-e", "actornode")
	assert.Empty(t, state())
	assert.Contains(t, d.do("cat "+yaml+".rpmsave"), "name: changed@127.0.0.1")
	assert.Equal(t, secret, d.do("cat "+cookie), "it stays: the cluster has it")
	assert.Empty(t, d.do("find /usr /lib -xdev -name '*actornode*'"))
}
