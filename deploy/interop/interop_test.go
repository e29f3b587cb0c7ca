package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
)

// roots is the environment variable with the folders of further releases,
// separated by colons; or, with a minus before it, of all releases.
const roots = "ACTORNODE_OTP_ROOTS"

const (
	cookie = "interop"
	lasts  = 3 * testkit.Limit // for the whole suite: it waits often
)

// hidden are the groups of checks for a hidden node: all but global.
var hidden = []string{"ping", "terms", "gen_server", "links", "monitors", "exits", "spawn", "rpc", "erpc", "order", "sys",
	"supervisor", "aliases", "seq_trace", "reconnect", "erlang", "pg", "io"}

func TestInterop(t *testing.T) {
	releases := findReleases(t)
	daemon := buildDaemon(t)
	var results []result
	for _, r := range releases {
		if !r.drives() {
			t.Logf("OTP %s is too old to drive the suite: it takes part in TestInteropMixed alone", r.version)
			continue
		}
		t.Run("otp-"+r.version, func(t *testing.T) {
			r.compile(t)
			t.Run("oracle", func(t *testing.T) {
				testkit.From(t, testkit.Night, "OTP judged by the suite")
				s := &stand{release: r, name: "otp@127.0.0.1", port: epmdtest.Serve(t, "127.0.0.1").Port}
				s.start(t, r.demo(t, s.name, s.port))
				res := s.judge(t)
				results = append(results, res)
				for _, c := range res.checks {
					if c.word != "ok" {
						t.Error(c)
					}
				}
			})
			for name, d := range map[string]struct{ args, groups []string }{
				"actornode": {nil, hidden}, "published": {[]string{"--published"}, nil},
			} {
				t.Run(name, func(t *testing.T) {
					s := &stand{release: r, name: "go@127.0.0.1", port: epmdtest.Serve(t, "127.0.0.1").Port}
					s.start(t, demoOf(t, daemon, s.name, s.port, d.args...))
					res := s.judge(t, d.groups...)
					results = append(results, res)
					compare(t, r, res)
				})
			}
		})
	}
	t.Logf("\n%s", table(results))
}

// TestInteropMixed puts several targets and OTP nodes into one cluster, of all releases in turn. OTP 26 and newer
// refuse releases before 25: those are in another cluster, with OTP 25.
func TestInteropMixed(t *testing.T) {
	releases := findReleases(t)
	daemon := buildDaemon(t)
	var now, before []*release
	old := false
	for _, r := range releases {
		r.compile(t)
		if r.drives() {
			now = append(now, r)
		}
		if r.number() <= 25 {
			before = append(before, r)
		}
		old = old || !r.drives()
	}
	require.NotEmpty(t, now, "none of these releases can drive the suite")
	clusters := [][]*release{now}
	if old {
		clusters = append(clusters, before)
	}
	var results []result
	for _, releases := range clusters {
		for _, kind := range []string{"oracle", "published"} {
			for _, c := range []cluster{{1, false}, {3, false}, {1, true}} {
				t.Run(fmt.Sprintf("%s/%s-%v", versions(releases), kind, c), func(t *testing.T) {
					if kind == "oracle" || c.overlap {
						testkit.From(t, testkit.Night, "clusters of OTP alone, or with overlaps")
					}
					results = append(results, c.judge(t, releases, kind, daemon))
				})
			}
		}
	}
	t.Logf("\n%s", table(results))
}

func versions(releases []*release) string {
	var all []string
	for _, r := range releases {
		all = append(all, r.version)
	}
	return strings.Join(all, "+")
}

// cluster is targets among OTP nodes.
type cluster struct {
	targets int
	overlap bool // the nodes do not prevent overlapping partitions
}

func (c cluster) String() string {
	if c.overlap {
		return fmt.Sprintf("%d-overlap", c.targets)
	}
	return strconv.Itoa(c.targets)
}

func (c cluster) judge(t *testing.T, releases []*release, kind, daemon string) result {
	i := slices.IndexFunc(releases, (*release).drives)
	require.GreaterOrEqual(t, i, 0, "none of OTP %s can drive the suite", versions(releases))
	s := &stand{release: releases[i], port: epmdtest.Serve(t, "127.0.0.1").Port}
	var targets, members, more []string
	if c.overlap {
		more = []string{"-kernel", "prevent_overlapping_partitions", "false"}
		t.Setenv("ACTORNODE_GLOBAL_PREVENT_OVERLAPPING_PARTITIONS", "false")
	}
	for i := range c.targets {
		s.name = fmt.Sprintf("t%d@127.0.0.1", i+1)
		if kind == "published" {
			s.start(t, demoOf(t, daemon, s.name, s.port, "--published"))
		} else {
			s.start(t, releases[i%len(releases)].demo(t, s.name, s.port, more...))
		}
		targets = append(targets, s.name)
	}
	for i := range max(3, len(releases)) {
		r := releases[i%len(releases)]
		s.name = fmt.Sprintf("o%d@127.0.0.1", i+1)
		s.start(t, r.demo(t, s.name, s.port, append(more, "-pa", r.ebin("suite"))...))
		members = append(members, s.name)
	}
	res := result{row: fmt.Sprintf("%s, %d %s", versions(releases), c.targets, kind)}
	args := []string{"-hidden", "-pa", s.release.ebin("suite"), "-run", "interop_mixed", "main",
		strings.Join(targets, ","), strings.Join(members, ",")}
	if c.overlap {
		args = append(args, "overlap")
	}
	s.drive(t, &res, s.release.erl(t, "driver@127.0.0.1", s.port, args...))
	for _, check := range res.checks {
		switch check.word {
		case "absent": // a cluster with an old release
			t.Log(check)
		case "FAILED":
			t.Error(check)
		}
	}
	return res
}

// compare compares the failed checks with those that are known to fail.
func compare(t *testing.T, r *release, res result) {
	known := readKnown(t, r.version)
	for _, c := range res.checks {
		switch is := known[c.key()]; {
		case is && c.word == "ok":
			t.Errorf("%v: it is ok now: take it out of testdata/known.txt", c)
		case !is && c.word != "ok":
			t.Error(c)
		}
	}
}

// release is an OTP.
type release struct {
	version string // "25"
	root    string // the folder to chroot into; "": none
	dir     string // for compiled files; below root, but as seen from within
	elixir  bool
}

// findReleases returns the releases to test with, and skips the test if there are none.
func findReleases(t *testing.T) (all []*release) {
	testkit.From(t, testkit.Merge, "OTP nodes")
	list, only := strings.CutPrefix(os.Getenv(roots), "-")
	if !only {
		testkit.Program(t, testkit.Merge, "erlc")
		all = append(all, &release{dir: t.TempDir()})
	}
	for _, root := range filepath.SplitList(list) {
		dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "interop-")
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		all = append(all, &release{root: root, dir: strings.TrimPrefix(dir, root)})
	}
	require.NotEmpty(t, all, "%s names no release", roots)
	for _, r := range all {
		cmd := r.command(t.Context(), "erl", "-noshell", "-eval", `io:put_chars(erlang:system_info(otp_release)), halt().`)
		out, err := cmd.Output()
		require.NoError(t, err, "%v", cmd)
		r.version = string(out)
		r.elixir = r.command(t.Context(), "elixir", "--version").Run() == nil
	}
	return all
}

// command returns a command inside the release.
func (r *release) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	if r.root == "" {
		return exec.CommandContext(ctx, program, args...)
	}
	return exec.CommandContext(ctx, "chroot", append([]string{r.root, program}, args...)...)
}

// ebin returns the folder with the compiled modules of a folder.
func (r *release) ebin(folder string) string { return filepath.Join(r.dir, folder) }

// compile compiles the suite and the oracle. An old release gets only the part of the suite that it runs as a member of
// a cluster.
func (r *release) compile(t *testing.T) {
	for _, folder := range []string{"suite", "oracle"} {
		sources := "*.erl"
		if folder == "suite" && !r.drives() {
			sources = "interop_member.erl"
		}
		inside := r.ebin(folder)
		require.NoError(t, os.CopyFS(filepath.Join(r.root, inside), os.DirFS(folder)))
		files, err := filepath.Glob(filepath.Join(folder, sources))
		require.NoError(t, err)
		args := []string{"-Werror", "-o", inside}
		for _, f := range files {
			args = append(args, filepath.Join(r.dir, f))
		}
		out, err := r.command(t.Context(), "erlc", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// erl returns the command of an OTP node.
func (r *release) erl(t *testing.T, name string, port int, args ...string) *exec.Cmd {
	cmd := r.command(t.Context(), "erl", append([]string{"-noshell", "-start_epmd", "false", "-name", name, "-setcookie", cookie},
		args...)...)
	cmd.Env = environ(port)
	return cmd
}

// drives reports whether the release has what the suite uses: module peer, for one.
func (r *release) drives() bool { return r.number() >= 25 }

func (r *release) number() int {
	n, _ := strconv.Atoi(r.version)
	return n
}

// demo returns the command of an OTP node that runs the demo. A node without the suite has no code for the suite's
// funs, like our daemon.
func (r *release) demo(t *testing.T, name string, port int, more ...string) *exec.Cmd {
	args := []string{"-kernel", "logger_level", "none", "-pa", r.ebin("oracle"), "-run", "demo", "main"}
	return r.erl(t, name, port, append(args, more...)...)
}

// demoOf returns the command of our daemon with the demo.
func demoOf(t *testing.T, daemon, name string, port int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), daemon, append([]string{"start", "--name", name, "--cookie", cookie, "--demo"}, args...)...)
	cmd.Env = environ(port)
	return cmd
}

// environ returns our environment, without the variables that Erlang would read, and with the port of EPMD.
func environ(port int) []string {
	env := []string{"ERL_EPMD_PORT=" + strconv.Itoa(port), "HOME=/tmp", "LC_ALL=C.UTF-8"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ERL_") && !strings.HasPrefix(kv, "HOME=") && !strings.HasPrefix(kv, "LC_ALL=") {
			env = append(env, kv)
		}
	}
	return env
}

func buildDaemon(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "actornode")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/actornode")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// stand is a target with everything needed to judge it.
type stand struct {
	release *release
	name    string // of the target
	port    int    // of EPMD
}

// start starts the target and waits until it reports that it is up. The test's end stops it.
func (s *stand) start(t *testing.T, cmd *exec.Cmd) {
	var log bytes.Buffer
	stdin, err := cmd.StdinPipe() // its end ends the oracle
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = &log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = testkit.Limit
	require.NoError(t, cmd.Start())
	up, gone := make(chan bool, 1), make(chan struct{})
	go func() { // ended by the target's end, waited for by the cleanup
		defer close(gone)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			if strings.Contains(in.Text(), "is up") {
				up <- true
				break
			}
		}
		io.Copy(io.Discard, stdout)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-gone:
		case <-time.After(testkit.Limit):
			cmd.Process.Kill()
			<-gone
		}
		if t.Failed() {
			t.Logf("what %s has said last:\n%s", s.name, tail(log.Bytes(), 4000))
		}
	})
	select {
	case <-up:
	case <-gone:
		require.Fail(t, "the target has ended", "%s", log.Bytes())
	case <-time.After(testkit.Limit):
		require.Fail(t, "the target does not start")
	}
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// check is the result of one check.
type check struct{ word, group, text string }

func (c check) String() string { return fmt.Sprintf("%-6s  %-10s  %s", c.word, c.group, c.text) }

// name is the text without the reason.
func (c check) name() string {
	name, _, _ := strings.Cut(c.text, " | ")
	return name
}

func (c check) key() [2]string { return [2]string{c.group, c.name()} }

// result is a table's row.
type result struct {
	row    string
	checks []check
}

// judge runs the suite, or some groups of it.
func (s *stand) judge(t *testing.T, groups ...string) result {
	r := s.release
	res := result{row: fmt.Sprintf("%s, %s", r.version, filepath.Base(t.Name()))}
	args := append([]string{"-pa", r.ebin("suite"), "-run", "interop", "main", s.name}, groups...)
	s.drive(t, &res, r.erl(t, "driver@127.0.0.1", s.port, args...))
	if r.elixir {
		args := []string{"--name", "elixir@127.0.0.1", "--cookie", cookie, "--erl", "-start_epmd false",
			filepath.Join(r.dir, "suite", "elixir.exs"), s.name}
		if len(groups) > 0 {
			args = append(args, "elixir") // the other groups are for visible nodes
		}
		cmd := r.command(t.Context(), "elixir", args...)
		cmd.Env = environ(s.port)
		s.drive(t, &res, cmd)
	}
	return res
}

// drive runs a driver and records its results of checks.
func (s *stand) drive(t *testing.T, res *result, cmd *exec.Cmd) {
	before, finished := len(res.checks), false
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	stop := time.AfterFunc(lasts, func() { cmd.Process.Kill() })
	defer stop.Stop()
	for in := bufio.NewScanner(out); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "ok", "FAILED", "absent":
			group, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
			res.checks = append(res.checks, check{word, group, strings.TrimSpace(text)})
		case "done:":
			finished = true
		}
	}
	err = cmd.Wait()
	assert.True(t, finished, "the driver has not finished after %d checks: %v\n%s", len(res.checks)-before, err,
		tail(log.Bytes(), 4000))
}

// readKnown reads the checks that are known to fail with a release, one per line: [>=RELEASE] GROUP NAME, where #
// begins a comment.
func readKnown(t *testing.T, release string) map[[2]string]bool {
	b, err := os.ReadFile("testdata/known.txt")
	require.NoError(t, err)
	now, err := strconv.Atoi(release)
	require.NoError(t, err)
	known := map[[2]string]bool{}
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		if since, rest, ok := strings.Cut(line, " "); ok && strings.HasPrefix(since, ">=") {
			first, err := strconv.Atoi(since[2:])
			require.NoError(t, err, line)
			if now < first {
				continue
			}
			line = rest
		}
		if group, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			known[[2]string{group, strings.TrimSpace(name)}] = true
		}
	}
	return known
}

// table shows the results: a row for each, a column for each group.
func table(results []result) string {
	var groups []string
	for _, r := range results {
		for _, c := range r.checks {
			if !slices.Contains(groups, c.group) {
				groups = append(groups, c.group)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| OTP, target | %s |\n|---|%s\n", strings.Join(groups, " | "), strings.Repeat("---|", len(groups)))
	for _, r := range results {
		fmt.Fprintf(&b, "| %s |", r.row)
		for _, g := range groups {
			fmt.Fprintf(&b, " %s |", cell(r.checks, g))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cell returns how many checks of a group are ok, with their total unless all are; "none" if no check of the group is
// offered, "–" if it has not run.
func cell(checks []check, group string) string {
	n := map[string]int{}
	for _, c := range checks {
		if c.group == group {
			n[c.word]++
		}
	}
	all := n["ok"] + n["FAILED"] + n["absent"]
	switch {
	case all == 0:
		return "–"
	case n["absent"] == all:
		return "none"
	case n["ok"] == all:
		return strconv.Itoa(all)
	}
	return fmt.Sprintf("**%d/%d**", n["ok"], all)
}
