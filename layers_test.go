package actornode_test

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/actornode/actornode"

// layers says which layer each part is on: an import runs downward only, and parts of one
// layer do not import each other. A package below a part (node/pg in node) belongs to that
// part; inside says how the packages of one part stand to each other.
var layers = map[string]int{
	"cmd": 7, "bench": 7, "deploy": 7, "docs": 7,
	"supervisor":        4,
	"node":              3,
	"internal/sysmsg":   3,
	"internal/procview": 3, "internal/admin": 3,
	"internal/termof":   1,
	"internal/executor": 2, "wire/erldist": 2, "wire/native": 2,
	"internal/limit": 0, "internal/cause": 0, "internal/cgroup": 0, "internal/memory": 0, "internal/bias": 0, "internal/fiber": 0, "internal/ring": 0, "internal/readmap": 0, "internal/strict": 0, "internal/treefields": 1,
	"internal/markdown": 0, "internal/printable": -1, "internal/counter": 0, "internal/erlflags": 0, "internal/epmdcodec": 0, "internal/epmdserver": 1, "internal/epmdclient": 1,
	"internal/vet": 0, "internal/systemd": 0, "internal/regular": 0, "internal/outline": 2,
	"internal/daemon": 5, "internal/command": 6, "internal/demo": 4,
	"mailbox": 1, "sched": 1, "internal/inbox": 1, "wire": 1, "wire/dist": 1, "internal/socket": 0, "internal/account": 1,
	"wire/etf": 1, "wire/pickle": 1, "wire/epmd": 1, "internal/pack": 1, "internal/etfcodec": 1, "wire/tlsdist": 1,
	"internal/nodehook": 2, "internal/loglimit": 2, "internal/box": 1, "internal/fault": 1, "internal/shake": 1,

	// Kits of tests, each as low as its users need.
	"internal/nodetest": 3, "internal/growth": 7,
	"internal/certtest": 1,
	"internal/epmdtest": 1,
	"internal/erltest":  1,
	"internal/logtest":  1,
	"internal/porttest": 1,
	"internal/testkit":  0,
	"internal/termtest": 1,
	"internal/linkkit":  1,
	"internal/linkopt":  1,
	"internal/rotation": 1,
	"wire/linktest":     1,
}

// within lists what a part may use of its own layer.
var within = map[string][]string{
	"wire/etf":          {"wire", "internal/etfcodec", "internal/fault", "internal/termof"},
	"internal/etfcodec": {"wire", "internal/box", "internal/fault", "internal/termof"},
	"internal/termof":   {"wire"},
	"internal/box":      {"wire"},
	"internal/fault":    {"wire"},
	"wire/pickle":       {"wire"},
	"wire/dist":         {"wire"},
	"internal/account":  {"wire/dist"},
	"internal/rotation": {"wire", "wire/dist"},
	"internal/pack":     {"wire", "internal/box", "internal/fault", "internal/termof"},
	"wire/tlsdist":      {"wire", "wire/dist"},

	"internal/epmdclient": {"wire", "wire/epmd", "internal/epmdserver"},

	"internal/inbox":    {"mailbox"},
	"node":              {"internal/sysmsg", "internal/procview", "internal/admin"},
	"internal/admin":    {"node", "internal/sysmsg", "internal/procview"},
	"internal/sysmsg":   {"node"},
	"internal/procview": {"node"},
	"internal/demo":     {"supervisor"},
	"supervisor":        {"internal/demo"},
	"internal/nodetest": {"node"},
	"internal/epmdtest": {"wire/epmd", "internal/epmdclient", "internal/epmdserver"},
	"internal/erltest":  {"internal/logtest"},
	"internal/termtest": {"wire"},
	"internal/linkopt":  {"wire", "wire/dist"},
	"internal/linkkit":  {"wire", "wire/dist", "internal/linkopt"},
	"wire/linktest":     {"wire/dist", "internal/linkkit"},
}

// inside has a layer for each package of the parts that have several. It counts within one
// part only, that is for packages with the same first folder: there, too, an import runs
// downward only.
var inside = map[string]int{
	"node/discovery": 0, "node/deadletter": 0, "node/observe": 1,

	"node/internal/env": 0, "node/internal/timers": 1, "node/internal/flush": 0,
	"node/internal/table": 0, "node/internal/admission": 1, "node/internal/quota": 0,
	"node/internal/keep": 1, "node/internal/feed": 0, "node/internal/trace": 1, "node/internal/export": 0, "node/internal/mesh": 1,
	"node/internal/undelivered": 2, "node/internal/names": 1, "node/internal/gotypes": 0, "node/internal/signal": 0, "node/internal/limits": 1, "node/internal/report": 1, "node/internal/kernel": 2, "node/internal/outbox": 1, "node/internal/peers": 2, "node/internal/reader": 3,
	"node/internal/erpc": 1, "node/internal/gencall": 0, "node/internal/promise": 0, "node/internal/waiting": 1,
	"node/internal/list": 0, "node/internal/reason": 0,
	"node/internal/failure": 1, "node/internal/values": 2, "node/internal/futures": 1,
	"node/internal/activation": 0, "node/internal/moved": 0,
	"node/internal/termkey": 0, "node/internal/globalnames": 1, "node/internal/global": 2,
	"node/internal/tagged": 0,

	"node/internal/process": 3, "node/internal/runner": 4, "node/internal/remote": 4,
	"node/internal/placement": 4, "node/internal/inspect": 5,
	"node/internal/owned": 0, "node/rights": -1, "node/internal/watchers": 4,

	"node/internal/deepcopy": 0, "node/isolation": 1, "node/internal/isolate": 2, "node/internal/receipt": 4,

	"node": 6,

	"node/internal/filter": 7,

	"node/active": 7, "node/futures": 8, "node/match": 8, "node/stage": 7, "node/stream": 7,
	"node/rpc": 7, "node/sys": 7, "node/trace": 7, "node/dns": 7, "node/gossip": 7,
	"node/lifetime": 8, "node/channel": 8, "node/forward": 7, "node/global": 7,
	"node/genserver": 8, "node/event": 8, "node/port": 8, "node/otp": 8,
	"node/statem": 9, "node/pg": 9, "node/migrate": 9,
	"node/admin": 10, "node/metrics": 10,

	"supervisor":             1,
	"supervisor/application": 2,
	"supervisor/tree":        3,

	"wire":      1,
	"wire/dist": 2,
	"wire/epmd": 3, "wire/tlsdist": 3, "wire/linktest": 3,
	"wire/etf":     3,
	"wire/pickle":  3,
	"wire/erldist": 4, "wire/native": 4,

	"internal/cause": -1, "internal/limit": 0, "internal/socket": 0, "internal/account": 0, "internal/memory": 0, "internal/bias": 0, "internal/fiber": 0, "internal/ring": 0, "internal/readmap": 0, "internal/strict": 0,
	"internal/certtest": 0, "internal/logtest": 0, "internal/porttest": 0, "internal/testkit": -1, "internal/printable": -1,
	"internal/shake": 0, "internal/rotation": 0, "internal/pack": 1, "internal/etfcodec": 1, "internal/box": 0, "internal/fault": 0, "internal/loglimit": 0, "internal/erlflags": 0, "internal/epmdcodec": 0, "internal/epmdserver": 1, "internal/epmdclient": 2, "internal/epmdtest": 3,
	"internal/inbox": 1, "internal/counter": 0, "internal/nodehook": 1, "internal/markdown": 0, "internal/cgroup": 0, "internal/treefields": 1,
	"internal/executor": 2, "internal/admin": 3, "internal/procview": 2, "internal/sysmsg": 2, "internal/termof": 0, "internal/linkopt": 0, "internal/linkkit": 1,
	"internal/erltest": 1, "internal/termtest": 1, "internal/nodetest": 1, "internal/growth": 5, "internal/growth/steps": 6,
	"internal/vet": 0, "internal/systemd": 0, "internal/regular": 0, "internal/outline": 1,
	"internal/demo": 3, "internal/daemon/health": 1,
	"internal/daemon/config": 2,
	"internal/command":       4,
}

// outside lists the modules that the packages may use, with the reason.
var outside = map[string]string{
	"github.com/stretchr/testify":           "tests",
	"github.com/klauspost/compress":         "zstd for payloads of the native protocol: the implementation in Go",
	"github.com/tinylib/msgp":               "msgpack for languages without extensions, and the values of registered Go types: numbers, texts and heads, appended to and read from []byte; the msgpack library that is kept (a release this year), reads every length against what is left, and allocates nothing by itself",
	"github.com/spf13/cobra":                "command line of the daemon: help, completion, the usual flags",
	"go.yaml.in/yaml/v3":                    "supervision trees and configuration in files: keeps line and column; maintained by the YAML organization, and testify needs it anyway",
	"github.com/prometheus":                 "metrics: client_golang, and the text format and linter that its tests need",
	"github.com/spf13/pflag":                "cobra's flags, where commands share some, or a table makes them",
	"charm.land/bubbletea/v2":               "top: draws on a terminal, reads its keys; the most used library for it, released monthly",
	"charm.land/bubbles/v2":                 "top: text input, scrolling, help, of the same people",
	"charm.land/lipgloss/v2":                "colours, tables and trees on terminals, and how wide text is there; of the same people",
	"github.com/charmbracelet/colorprofile": "what colours a terminal has, and NO_COLOR; of the same people",
	"github.com/charmbracelet/x":            "is this a terminal, how wide; cut coloured text; tests: a terminal emulator; of the same people",
	"github.com/creack/pty":                 "tests: pseudo-terminals",
	"github.com/KimMachineGun/automemlimit": "the memory that a cgroup (v1, v2, and those above it) or the machine allows; small, released this year, what Prometheus and Caddy use",
	"golang.org/x/sys":                      "waitid without reaping, and the names of signals and errors, which package syscall has not",
	"golang.org/x/tools":                    "vet: analyzers, control flow, the protocol of go vet; of Go's authors",
	"golang.org/x/sync":                     "errgroup: several hosts asked at a time, so many at most",
	"github.com/hashicorp/memberlist":       "gossip: SWIM with Lifeguard, what Consul and Nomad run on; released this year, the alternatives are layers on it (serf) or long without a release",
	"github.com/miekg/dns":                  "tests: a real DNS server on loopback; memberlist needs it anyway",
}

// further lists what modules below bench and deploy use beside what is in outside: what they need is not in go.mod.
var further = map[string]map[string]string{
	"bench/peers/grpc": {
		"google.golang.org/grpc":     "the peer that is measured",
		"google.golang.org/protobuf": "its messages",
	},
	"deploy/release": {
		"github.com/goreleaser/nfpm/v2":            "packages for Debian and Fedora without their tools; of GoReleaser's authors",
		"github.com/CycloneDX/cyclonedx-go":        "SBOMs, and the schema that they follow; of the format's authors",
		"github.com/google/uuid":                   "the number of an SBOM, made from its version",
		"github.com/santhosh-tekuri/jsonschema/v6": "tests: SBOMs against their schema",
	},
	"deploy/kubernetes": {
		"k8s.io/api":            "tests: manifests as Kubernetes reads them",
		"sigs.k8s.io/kustomize": "tests: what kubectl apply -k makes of the folders",
		"sigs.k8s.io/yaml":      "tests: as k8s.io/api",
		"github.com/prometheus-operator/prometheus-operator": "tests: monitors and rules as the operator reads them",
	},
	"deploy/grafana": {
		"github.com/grafana/grafana-foundation-sdk/go": "tests: dashboards as Grafana reads them",
	},
}

// A pkg is a package of the repository, with its tests.
type pkg struct {
	*build.Package
	module string // the folder of its go.mod, "." for the root
}

// packages returns the packages of all modules of the repository. It reads them without the go
// command, which would need what the tests of all modules need.
func packages(t *testing.T) []pkg {
	all, err := read()
	require.NoError(t, err)
	require.Greater(t, len(all), 100)
	return all
}

// read reads the packages, once.
var read = sync.OnceValues(func() (all []pkg, err error) {
	modules := []string{"."}
	return all, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != "." && (d.Name() == "testdata" || strings.ContainsRune("._", rune(d.Name()[0]))) {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			modules = append(modules, path)
		}
		dir, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		p, err := build.ImportDir(dir, 0)
		if _, none := errors.AsType[*build.NoGoError](err); none {
			return nil
		} else if err != nil {
			return err
		}
		p.ImportPath = strings.TrimSuffix(module+"/"+filepath.ToSlash(path), "/.")
		in := "."
		for _, m := range modules {
			if path == m || strings.HasPrefix(path, m+string(filepath.Separator)) {
				in = m
			}
		}
		all = append(all, pkg{p, filepath.ToSlash(in)})
		return nil
	})
})

// The modules that go.work builds together use the versions that the module of the daemon has:
// what is built from a folder of the repository is what its users get.
func TestWorkspaceChangesNoVersion(t *testing.T) {
	versions := func(dir string) map[string]string {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		require.NoError(t, err)
		all := make(map[string]string)
		for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) (v\S+)`).FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = m[2]
		}
		return all
	}
	text, err := os.ReadFile("go.work")
	require.NoError(t, err)
	root := versions(".")
	require.Greater(t, len(root), 20)
	used := regexp.MustCompile(`(?m)^\t\./(\S+)$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, used)
	for _, dir := range used {
		for path, version := range versions(dir[1]) {
			if _, ok := root[path]; ok {
				require.Equal(t, root[path], version, "%s in %s/go.mod", path, dir[1])
			}
		}
	}
}

// local is a path below the module.
func local(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// part returns the longest entry of layers that path is or lies below.
func part(path string) string {
	path = local(path)
	best := ""
	for r := range layers {
		if (path == r || strings.HasPrefix(path, r+"/")) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

func TestImportsRunDownward(t *testing.T) {
	for _, p := range packages(t) {
		from := part(p.ImportPath)
		if from == "" {
			require.Equal(t, module, p.ImportPath, "%s belongs to no part: enter it in layers", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			to := part(imp)
			if to == from {
				continue
			}
			ok := layers[to] < layers[from]
			for _, w := range within[from] {
				ok = ok || w == to
			}
			require.True(t, ok, "%s (layer %d) imports %s (layer %d): an import runs downward only",
				p.ImportPath, layers[from], imp, layers[to])
		}
	}
}

// The packages of one part have layers, too.
func TestImportsRunDownwardInside(t *testing.T) {
	parts := make(map[string]bool)
	for path := range inside {
		parts[first(path)] = true
	}
	all := packages(t)
	for _, p := range all {
		from := local(p.ImportPath)
		if !parts[first(from)] {
			continue
		}
		require.Contains(t, inside, from, "%s has no layer: enter it in inside", p.ImportPath)
		for _, imp := range p.Imports {
			to := local(imp)
			if !strings.HasPrefix(imp, module) || first(to) != first(from) {
				continue
			}
			require.Less(t, inside[to], inside[from], "%s (layer %d of %s) imports %s (layer %d): an import runs downward only",
				p.ImportPath, inside[from], first(from), imp, inside[to])
		}
	}
	for path := range inside {
		require.True(t, slices.ContainsFunc(all, func(p pkg) bool { return local(p.ImportPath) == path }), "there is no package %s", path)
	}
}

// first is the first folder of a path.
func first(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

// A kit of tests is a package that imports testing.
func TestKitsAreForTests(t *testing.T) {
	kits := map[string]bool{}
	all := packages(t)
	for _, p := range all {
		kits[p.ImportPath] = slices.Contains(p.Imports, "testing")
	}
	for _, p := range all {
		for _, imp := range p.Imports {
			require.True(t, kits[p.ImportPath] || !kits[imp], "%s imports %s: only tests and other kits may", p.ImportPath, imp)
		}
	}
}

func TestDependenciesAreChosen(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") || strings.HasPrefix(imp, module) {
				continue
			}
			known := false
			for _, modules := range []map[string]string{outside, further[p.module]} {
				for m := range modules {
					known = known || imp == m || strings.HasPrefix(imp, m+"/")
				}
			}
			require.True(t, known, "%s imports %s: enter its module in outside or further, with the reason", p.ImportPath, imp)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	for _, p := range packages(t) {
		require.NotEmpty(t, p.Doc, "%s has no package comment", p.ImportPath)
	}
}
