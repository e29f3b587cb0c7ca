package cluster_test

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// engine is Docker with Compose.
type engine struct {
	t       testing.TB
	docker  string
	compose []string // the command
	env     []string
	tag     string // of the images of this run, and the name of its stack
}

// needEngine finds Docker, or starts it; without it, it skips the test and says why.
func needEngine(t testing.TB) *engine {
	testkit.From(t, testkit.Merge, "containers")
	if os.Getuid() != 0 {
		t.Skip("not installed: containers need root")
	}
	e := &engine{t: t, env: os.Environ(), tag: fmt.Sprintf("actornode-test-%d", os.Getpid())}
	for _, program := range []string{"docker", "dockerd", "iptables", "ip"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("not installed: %s", program)
		}
		if program == "docker" {
			e.docker = path
		}
	}
	switch {
	case exec.Command(e.docker, "compose", "version").Run() == nil:
		e.compose = []string{e.docker, "compose"}
	case exec.Command("docker-compose", "version").Run() == nil:
		e.compose = []string{"docker-compose"}
	default:
		t.Skip("not installed: docker compose")
	}
	if exec.Command(e.docker, "info").Run() != nil {
		e.startDaemon()
	}
	return e
}

// startDaemon starts a dockerd that ends with the test.
func (e *engine) startDaemon() {
	dir, err := os.MkdirTemp("", "dockerd")
	require.NoError(e.t, err)
	e.t.Cleanup(func() { os.RemoveAll(dir) })
	socket := "unix://" + dir + "/docker.sock"
	log, err := os.Create(dir + "/log")
	require.NoError(e.t, err)
	defer log.Close()
	cmd := exec.Command("dockerd", "--host", socket, "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // also if the test is killed
	started, ended := make(chan error), make(chan error, 1)
	go func() { // the cleanup waits
		runtime.LockOSThread() // the signal arrives when the thread that has started it ends
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	require.NoError(e.t, <-started)
	e.t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(testkit.Limit):
			cmd.Process.Kill()
		}
	})
	e.env = append(e.env, "DOCKER_HOST="+socket)
	for deadline := time.Now().Add(testkit.Limit); ; {
		if e.command(e.docker, "info").Run() == nil {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(dir + "/log")
			e.t.Skipf("not installed: a dockerd that runs here: %v: %s", err, text[max(0, len(text)-500):])
		case <-time.After(200 * time.Millisecond):
			require.True(e.t, time.Now().Before(deadline), "dockerd does not answer")
		}
	}
}

func (e *engine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = e.env
	return cmd
}

// try runs docker, and returns its standard output.
func (e *engine) try(args ...string) (string, error) {
	var out, trouble bytes.Buffer
	cmd := e.command(e.docker, args...)
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, trouble.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// run runs docker, which must succeed.
func (e *engine) run(args ...string) string {
	out, err := e.try(args...)
	require.NoError(e.t, err)
	return out
}

// image returns the name of an image of this run.
func (e *engine) image(name string) string { return e.tag + "-" + name }

// build makes an image from a folder with a Dockerfile, and removes it with the test.
func (e *engine) build(name, dir string, args ...string) string {
	cmd := e.command(e.docker, append(append([]string{"build", "-q", "-t", e.image(name)}, args...), dir)...)
	cmd.Env = append(cmd.Env, "DOCKER_BUILDKIT=0") // BuildKit needs a plugin that Debian's package lacks
	out, err := cmd.CombinedOutput()
	require.NoError(e.t, err, string(out))
	e.t.Cleanup(func() { e.try("rmi", "-f", e.image(name)) })
	return e.image(name)
}

// imported makes an image of files of this host.
func (e *engine) imported(name string, files []string, changes ...string) string {
	args := []string{"import"}
	for _, c := range changes {
		args = append(args, "-c", c)
	}
	cmd := e.command(e.docker, append(args, "-", e.image(name))...)
	in, err := cmd.StdinPipe()
	require.NoError(e.t, err)
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	require.NoError(e.t, cmd.Start())
	err = pack(in, files)
	require.NoError(e.t, errors.Join(err, in.Close(), cmd.Wait()), trouble.String())
	e.t.Cleanup(func() { e.try("rmi", "-f", e.image(name)) })
	return e.image(name)
}

// pack writes files of this host, and the other files of a small system.
func pack(w io.Writer, files []string) error {
	t := tar.NewWriter(w)
	written := make(map[string]bool)
	dir := func(name string, mode int64) error {
		if written[name] {
			return nil
		}
		written[name] = true
		return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode})
	}
	for _, d := range []string{"usr", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "run"} {
		if err := dir(d, 0o755); err != nil {
			return err
		}
	}
	if err := dir("tmp", 0o777|0o1000); err != nil {
		return err
	}
	for _, l := range []string{"bin", "sbin", "lib", "lib64"} {
		written[l] = true
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: l, Linkname: "usr/" + l}); err != nil {
			return err
		}
	}
	for _, f := range files {
		folder, err := filepath.EvalSymlinks(filepath.Dir(f))
		if errors.Is(err, fs.ErrNotExist) { // a package may be installed without its documents
			continue
		}
		f = filepath.Join(folder, filepath.Base(f))
		name := strings.TrimPrefix(f, "/")
		info, err := os.Lstat(f)
		if errors.Is(err, fs.ErrNotExist) || written[name] {
			continue
		}
		if err != nil {
			return err
		}
		written[name] = true
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(f); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		h.Name = name
		if info.IsDir() {
			h.Name += "/"
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			if err := copyFile(t, f); err != nil {
				return err
			}
		}
	}
	return t.Close()
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// packaged lists the files of Debian packages, with the libraries that their programs need and a shell; ok false: one
// is not installed.
func packaged(packages ...string) (files []string, ok bool) {
	out, err := exec.Command("dpkg", append([]string{"-L", "dash", "coreutils", "sed", "hostname", "libc-bin"},
		packages...)...).Output()
	if err != nil {
		return nil, false
	}
	files = []string{"/usr/bin/sh", "/etc/protocols", "/etc/services"}
	var programs []string
	for f := range strings.Lines(string(out)) {
		f = strings.TrimSpace(f)
		if strings.HasPrefix(f, "/usr/share/") && !strings.HasPrefix(f, "/usr/share/zoneinfo") || !strings.HasPrefix(f, "/") {
			continue
		}
		files = append(files, f)
		if b, err := elf.Open(f); err == nil {
			if b.FileHeader.Type == elf.ET_EXEC || b.FileHeader.Type == elf.ET_DYN {
				programs = append(programs, f)
			}
			b.Close()
		}
	}
	libraries, _ := exec.Command("ldd", programs...).Output() // fails for static programs
	for _, w := range strings.Fields(string(libraries)) {
		if w = strings.TrimSuffix(w, ":"); strings.HasPrefix(w, "/") {
			files = append(files, w)
			if real, err := filepath.EvalSymlinks(w); err == nil {
				files = append(files, real)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), true
}

// goBuild builds a program of the module in a folder for an image. It fetches nothing.
func goBuild(t testing.TB, module, out, pkg string, flags ...string) {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", out, pkg)...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-pgo=off -buildvcs=false", "GOPROXY=off", "GOWORK=off")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
}

// daemonImage makes the image of the shipped Dockerfile. Its first stage, which compiles with an image of Go, is
// replaced by one with what was compiled here.
func (e *engine) daemonImage() string {
	dir := e.t.TempDir()
	text, err := os.ReadFile("../docker/Dockerfile")
	require.NoError(e.t, err)
	require.NoError(e.t, os.MkdirAll(dir+"/out/home", 0o700))
	require.NoError(e.t, os.Mkdir(dir+"/src", 0o755))
	goBuild(e.t, "../..", dir+"/out/actornode", "./cmd/actornode")
	for _, f := range []string{"LICENSE", "THIRD_PARTY_LICENSES.md"} {
		b, err := os.ReadFile("../../" + f)
		require.NoError(e.t, err)
		require.NoError(e.t, os.WriteFile(dir+"/src/"+f, b, 0o644))
	}
	return e.lastStage("node", string(text), dir)
}

// lastStage makes the image of the last stage of a Dockerfile. dir has what its first stage would have compiled.
func (e *engine) lastStage(name, dockerfile, dir string) string {
	_, last, ok := strings.Cut(dockerfile, "\nFROM scratch\n")
	require.True(e.t, ok, dockerfile)
	require.NoError(e.t, os.WriteFile(dir+"/Dockerfile", []byte("FROM scratch AS build\nCOPY . /\n\nFROM scratch\n"+last), 0o644))
	return e.build(name, dir)
}

// loadImage makes the image of the load.
func (e *engine) loadImage() string {
	dir := e.t.TempDir()
	goBuild(e.t, "..", dir+"/load", "./cluster/load")
	require.NoError(e.t, os.WriteFile(dir+"/Dockerfile", []byte("FROM scratch\nCOPY load /load\nENTRYPOINT [\"/load\"]\n"), 0o644))
	return e.build("load", dir)
}

// until waits for a condition of a container. It polls five times a second: each query is work for Docker.
func until(t testing.TB, wrong func() string) {
	t.Helper()
	testkit.UntilEvery(t, 200*time.Millisecond, wrong)
}
