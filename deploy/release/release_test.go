package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/command"
	"github.com/actornode/actornode/internal/testkit"
)

var targetsFlag = flag.String("release.targets", runtime.GOOS+"/"+runtime.GOARCH,
	"targets of the releases that tests make, or all")

// now is a commit in the past.
var now = revision{"v1.2.3-rc.1", strings.Repeat("0123456789", 4), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// once makes a release for all tests, without the profile.
var once = sync.OnceValues(func() (folder string, err error) {
	folder = filepath.Join(shared, "dist")
	source, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	wanted, err := parseTargets(strings.TrimPrefix(*targetsFlag, "all"))
	if err != nil {
		return "", err
	}
	return folder, release{revision: now, source: source}.make(context.Background(), folder, wanted)
})

// shared is a folder that all tests share.
var shared string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if shared, err = os.MkdirTemp("", "release-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(shared)
	os.Exit(status)
}

// made returns the folder of a release. It takes minutes: it compiles the whole program with flags that nothing else
// uses.
func made(t *testing.T) string {
	testkit.From(t, testkit.Night, "a release, which is compiled")
	if runtime.GOOS != "linux" {
		t.Skip("the tests read what is made for Linux")
	}
	folder, err := once()
	require.NoError(t, err)
	return folder
}

// one returns the file of the release for this machine with an ending.
func one(t *testing.T, ending string) string {
	arch := map[string]string{".rpm": map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]}[ending]
	if arch == "" {
		arch = runtime.GOARCH
	}
	found, err := filepath.Glob(filepath.Join(made(t), "*"+arch+ending))
	require.NoError(t, err)
	found = slices.DeleteFunc(found, func(f string) bool {
		return strings.Contains(f, "darwin") || strings.Contains(f, "windows")
	})
	require.Len(t, found, 1)
	return found[0]
}

// run runs a program and returns its output.
func run(t *testing.T, name string, args ...string) string {
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// unpacked returns the content of the archive for this machine.
func unpacked(t *testing.T) map[string]file {
	f, err := os.Open(one(t, ".tar.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	folder := strings.TrimSuffix(filepath.Base(f.Name()), ".tar.gz") + "/"
	all, r := make(map[string]file), tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		assert.True(t, h.ModTime.Equal(now.time), h.Name)
		assert.Equal(t, "root/root", h.Uname+"/"+h.Gname, h.Name)
		path, ok := strings.CutPrefix(h.Name, folder)
		require.True(t, ok, h.Name)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		all[path] = file{path, os.FileMode(h.Mode), data}
	}
}

// programFolder writes the binary of the release into a folder, and returns the folder.
func programFolder(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "actornode"), unpacked(t)["actornode"].data, 0o755))
	return dir
}

func TestArchive(t *testing.T) {
	all := unpacked(t)
	for _, path := range []string{"LICENSE", "README.md", "man/actornode-start.1", "completions/_actornode", "actornode.service"} {
		assert.Equal(t, os.FileMode(0o644), all[path].mode, path)
		assert.NotEmpty(t, all[path].data, path)
	}
	binary := all["actornode"]
	assert.Equal(t, os.FileMode(0o755), binary.mode)
	assert.Less(t, len(binary.data), 30_000_000, "the image, which is the binary, is to have at most 30 MB")
	for _, secret := range []string{r(t).source, os.Getenv("HOME") + "/", shared} {
		assert.False(t, bytes.Contains(binary.data, []byte(secret)), "the binary names the folder %s of this machine", secret)
	}
	var v struct{ Program, Version, Actornode, Commit, System string }
	require.NoError(t, json.Unmarshal([]byte(run(t, filepath.Join(programFolder(t), "actornode"), "version", "--json")), &v))
	assert.Equal(t, "actornode v1.2.3-rc.1 v1.2.3-rc.1 "+now.commit,
		strings.Join([]string{v.Program, v.Version, v.Actornode, v.Commit}, " "))
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, v.System)
}

// r returns a release of this repository.
func r(t *testing.T) release {
	source, err := filepath.Abs("../..")
	require.NoError(t, err)
	return release{revision: now, source: source}
}

func TestZip(t *testing.T) {
	dir := t.TempDir()
	windows := target{"windows", "arm64"}
	require.NoError(t, r(t).archive(windows, []file{{"actornode.exe", 0o755, []byte("MZ")}, {"man/a.1", 0o644, nil}}, dir))
	z, err := zip.OpenReader(filepath.Join(dir, "actornode_1.2.3-rc.1_windows_arm64.zip"))
	require.NoError(t, err)
	defer z.Close()
	require.Len(t, z.File, 2)
	assert.Equal(t, "actornode_1.2.3-rc.1_windows_arm64/actornode.exe", z.File[0].Name)
	assert.Equal(t, os.FileMode(0o755), z.File[0].Mode())
	assert.True(t, z.File[0].Modified.Equal(now.time))
	from, err := z.File[0].Open()
	require.NoError(t, err)
	data, err := io.ReadAll(from)
	require.NoError(t, err)
	assert.Equal(t, "MZ", string(data))
}

// Two releases of one commit have the same bytes, and the checksums agree with sha256sum.
func TestReleaseIsReproducible(t *testing.T) {
	first := made(t)
	second := filepath.Join(t.TempDir(), "elsewhere")
	wanted, err := parseTargets(strings.TrimPrefix(*targetsFlag, "all"))
	require.NoError(t, err)
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("GOFLAGS", "-tags=actornode_portable")
	require.NoError(t, r(t).make(t.Context(), second, wanted))
	names := func(dir string) (all []string) {
		found, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range found {
			all = append(all, f.Name())
		}
		return all
	}
	require.Equal(t, names(first), names(second))
	require.Contains(t, names(first), sums)
	for _, name := range names(first) {
		a, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(second, name))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(a, b), "%s differs", name)
	}
	testkit.Program(t, testkit.Night, "sha256sum")
	c := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", sums)
	c.Dir = second
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, len(names(second))-1, strings.Count(string(out), ": OK\n"))
}

// A folder that is not a release stays unchanged, and nothing is left beside it.
func TestReleaseReplacesReleasesOnly(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	require.NoError(t, os.WriteFile(precious, nil, 0o600))
	err := r(t).make(t.Context(), dir, nil)
	assert.ErrorContains(t, err, "neither empty nor an earlier release")
	assert.FileExists(t, precious)

	dir = filepath.Join(t.TempDir(), "dist")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, sums), nil, 0o600))
	old := filepath.Join(dir, "old")
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	broken := r(t)
	broken.source = t.TempDir()
	assert.Error(t, broken.make(t.Context(), dir, []target{{"linux", "amd64"}}), "there is nothing to build")
	assert.FileExists(t, old, "a release that fails replaces nothing")
	require.NoError(t, r(t).make(t.Context(), dir, nil))
	assert.NoFileExists(t, old)
	beside, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, beside, 1)
}

func TestParseTargets(t *testing.T) {
	all, err := parseTargets("")
	require.NoError(t, err)
	assert.Len(t, all, 6)
	some, err := parseTargets("windows/arm64,linux/amd64,windows/arm64")
	require.NoError(t, err)
	assert.Equal(t, []target{{"linux", "amd64"}, {"windows", "arm64"}}, some)
	_, err = parseTargets("linux/mips")
	assert.ErrorContains(t, err, `"linux/mips" is none of`)
}

// The revision is that of a repository: a tag, a pseudo-version, or uncommitted changes.
func TestRevision(t *testing.T) {
	testkit.Program(t, testkit.Merge, "git")
	dir := t.TempDir()
	commit := func(args ...string) {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)...)
		c.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2025-01-01T00:00:00Z",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	_, err := readRevision(t.Context(), dir, "")
	require.ErrorContains(t, err, "git log")
	commit("init", "-q")
	commit("commit", "-q", "--allow-empty", "-m", "a")
	pseudo, err := readRevision(t.Context(), dir, "")
	require.NoError(t, err)
	assert.Regexp(t, `^v0\.0\.0-20260102030405-[0-9a-f]{12}$`, pseudo.version)
	assert.Len(t, pseudo.commit, 40)
	assert.Equal(t, now.time, pseudo.time)
	version, before, more := pseudo.parts()
	assert.Equal(t, "0.0.0 20260102030405."+pseudo.commit[:12]+" ", version+" "+before+" "+more)

	commit("tag", "nightly")
	commit("tag", "v1.9.0")
	commit("tag", "v1.10.0")
	tagged, err := readRevision(t.Context(), dir, "")
	require.NoError(t, err)
	assert.Equal(t, "v1.10.0", tagged.version)
	named, err := readRevision(t.Context(), dir, "v2.0.0-rc.1")
	require.NoError(t, err)
	assert.Equal(t, "2.0.0-rc.1", named.plain())
	_, err = readRevision(t.Context(), dir, "2.0")
	assert.ErrorContains(t, err, "is no version")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), nil, 0o600))
	changed, err := readRevision(t.Context(), dir, "")
	require.NoError(t, err)
	assert.Equal(t, "v1.10.0+modified", changed.version)
}

// The SBOM is valid, and lists what the go command finds in the binary.
func TestBill(t *testing.T) {
	text, err := os.ReadFile(one(t, ".cdx.json"))
	require.NoError(t, err)
	validate(t, text)
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom))
	assert.Equal(t, "2026-01-02T03:04:05Z", bom.Metadata.Timestamp)
	listed := make(map[string]string)
	for _, c := range *bom.Components {
		if c.Name != "std" {
			listed[c.Name+" "+c.Version] = (*c.Properties)[0].Value
		}
		assert.NotEmpty(t, (*c.Licenses)[0].Expression, c.Name)
	}
	linked := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)\t(\S+)$`).FindAllStringSubmatch(
		run(t, "go", "version", "-m", filepath.Join(programFolder(t), "actornode")), -1) {
		linked[m[1]+" "+m[2]] = m[3]
	}
	require.Greater(t, len(linked), 20)
	assert.Equal(t, linked, listed)
	assert.Len(t, *(*bom.Dependencies)[0].Dependencies, len(linked)+1)
}

// validate checks an SBOM against the schema of CycloneDX, which the library contains.
func validate(t *testing.T, text []byte) {
	dir := strings.TrimSpace(run(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"))
	compiler := jsonschema.NewCompiler()
	for name, in := range map[string]string{"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
		"bom-1.6.schema.json": "bom-1.6.schema.json"} {
		f, err := os.Open(filepath.Join(dir, "schema", in))
		require.NoError(t, err)
		schema, err := jsonschema.UnmarshalJSON(f)
		require.NoError(t, err)
		f.Close()
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, schema))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))
	value.(map[string]any)["components"].([]any)[0].(map[string]any)["type"] = "thing"
	require.Error(t, schema.Validate(value), "the schema lets everything through")
}

// Each command has a page in which mandoc finds no errors, and which shows its texts unchanged.
func TestManual(t *testing.T) {
	pages := manual(command.Commands(command.Program{}), "1.2.3", now.time)
	for _, name := range []string{"actornode.1", "actornode-start.1", "actornode-log-level.1"} {
		assert.Contains(t, slices.Collect(maps.Keys(pages)), name)
	}
	for name, page := range pages {
		assert.Contains(t, string(page), "\n.SH NAME\n", name)
	}
	t.Run("rendered", func(t *testing.T) {
		testkit.Program(t, testkit.Night, "mandoc")
		dir := t.TempDir()
		for name, page := range pages {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, page, 0o600))
			out, err := exec.Command("mandoc", "-Tlint", "-Wwarning", path).CombinedOutput()
			assert.NoError(t, err, "%s: %s", name, out)
		}
		call := run(t, "mandoc", "-Tascii", filepath.Join(dir, "actornode-call.1"))
		call = regexp.MustCompile(".\b").ReplaceAllString(call, "")
		for _, text := range []string{`actornode call counter '{add, 5}'`, `<0.42.0>`, "--tls-any-host", "actornode(1)",
			"actornode 1.2.3"} {
			assert.Contains(t, call, text)
		}
		assert.NotContains(t, call, `\`)
	})
}

// A line that begins with a dot is text, and so is everything that roff would interpret.
func TestEscape(t *testing.T) {
	testkit.Program(t, testkit.Night, "mandoc")
	const text = ".erlang.cookie \\ 'a' `b` ~/x ^ -\n'quoted"
	path := filepath.Join(t.TempDir(), "a.1")
	page := ".TH A 1 2026-01-02\n.SH NAME\na \\- b\n.SH DESCRIPTION\n.nf\n" + escape(text) + "\n.fi\n"
	require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	for line := range strings.Lines(text) {
		assert.Contains(t, run(t, "mandoc", "-Tascii", path), strings.TrimSpace(line))
	}
}

// The shells load the completions, and shells that can list what they offer offer the commands of the program.
func TestCompletions(t *testing.T) {
	scripts, err := completions(command.Commands(command.Program{}))
	require.NoError(t, err)
	dir := t.TempDir()
	for name, script := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), script, 0o600))
	}
	t.Run("bash", func(t *testing.T) {
		testkit.Program(t, testkit.Night, "bash")
		path := programFolder(t)
		out := run(t, "bash", "--norc", "-c", `
			PATH=$2:$PATH; source "$1/actornode.bash" || exit 1
			COMP_WORDS=(actornode sta) COMP_CWORD=1 COMP_LINE="actornode sta" COMP_POINT=13
			_get_comp_words_by_ref() { cur=sta prev=actornode words=(actornode sta) cword=1; }
			__start_actornode; printf '%s\n' "${COMPREPLY[@]}"`, "bash", dir, path)
		assert.Regexp(t, `(?m)^start\b`, out)
		assert.Regexp(t, `(?m)^status\b`, out)
		assert.NotContains(t, out, "drain")
	})
	t.Run("fish", func(t *testing.T) {
		testkit.Program(t, testkit.Night, "fish")
		path := programFolder(t)
		out := run(t, "fish", "--no-config", "-c",
			"set -x PATH "+path+" $PATH; source "+dir+"/actornode.fish; complete -C 'actornode sta'")
		assert.Contains(t, out, "start\tStart a node\n")
		assert.Contains(t, out, "status\tShow the state of a node\n")
		assert.NotContains(t, out, "drain")
	})
	t.Run("zsh", func(t *testing.T) {
		testkit.Program(t, testkit.Night, "zsh")
		out := run(t, "zsh", "-f", "-c", "fpath=("+dir+" $fpath); autoload -U compinit; compinit -D -u; print $_comps[actornode]")
		assert.Equal(t, "_actornode\n", out)
		run(t, "zsh", "-n", filepath.Join(dir, "_actornode"))
	})
}
