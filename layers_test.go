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

// house lists the packages of the module from the ground up: a package imports only from rows further up in this list.
var house = [][]string{
	{ // libraries that do not know actors
		"internal/cause", "internal/printable", "internal/regular", "internal/strict", "internal/vet",
		"internal/mailbox/ring", "internal/sched/fiber", "internal/wire/erlflags", "internal/wire/socket",
		"internal/daemon/memory", "internal/daemon/systemd",
		"internal/testkit", "internal/testkit/certtest", "internal/testkit/markdown", "internal/testkit/porttest", "internal/testkit/recorded",
	},
	// types that users implement, and send
	{"wire", "wire/epmd"},
	{"mailbox", "sched", "internal/counter", "internal/testkit/logtest"},
	{"wire/dist", "wire/pickle", "node/rights", "internal/daemon/loglimit", "internal/wire/epmdserver", "internal/testkit/erltest", "internal/testkit/termtest"},
	// the scheduler, the mailbox, codecs
	{"internal/mailbox/inbox", "internal/wire/box", "internal/wire/epmdclient", "internal/wire/fault", "internal/wire/termof", "internal/testkit/epmdtest"},
	{"internal/sched/executor", "internal/wire/etfcodec", "internal/wire/links", "internal/wire/pack", "wire/tlsdist"},
	// the protocols
	{"wire/erldist", "wire/etf", "wire/native", "internal/testkit/linkkit"},
	{"wire/linktest", "node/discovery"},
	// the kernel, by topic, with the types of node whose values it holds
	{"internal/kernel/env", "internal/kernel/deepcopy", "node/deadletter"},
	{"internal/kernel/limits", "node/isolation"},
	{"internal/kernel/flow", "internal/kernel/tables", "node/observe"},
	{"internal/kernel/calls"},
	{"internal/kernel/erpc", "internal/kernel/global", "internal/kernel/values"},
	{"internal/kernel/watch"},
	{"internal/kernel/process"},
	{"internal/kernel/peers", "internal/kernel/runner", "internal/testkit/processtest"},
	{"node"},
	// tools and behaviours
	{"node/internal/filter", "node/dns", "node/global", "node/gossip", "node/metrics", "node/rpc", "node/seqtrace",
		"node/stage", "node/trace",
		"internal/daemon/procview"},
	{"internal/sysmsg", "node/match", "node/otel"},
	{"node/active", "node/channel", "node/otp", "node/sys", "supervisor"},
	{"node/event", "node/futures", "node/genserver", "node/lifetime", "node/port"},
	{"node/nodetest", "node/registry"},
	{"internal/testkit/actortest", "internal/testkit/clustertest"},
	{"node/keyed", "node/migrate", "node/pg", "node/pool", "node/statem", "node/tasks", "supervisor/application"},
	// the daemon
	{"internal/daemon/admin", "internal/daemon/demo", "internal/testkit/growth"},
	{"node/admin", "supervisor/tree", "internal/testkit/growth/steps"},
	{"internal/daemon/config", "internal/daemon/health"},
	{"internal/daemon/command"},
	{""},
	{"cmd/actornode", "docs"}, // and those in bench, deploy and examples, modules of their own
}

// outside lists the modules that the packages may use, with the reason.
var outside = map[string]string{
	"github.com/stretchr/testify":           "tests",
	"github.com/klauspost/compress":         "zstd for payloads of the native protocol: the implementation in Go",
	"github.com/tinylib/msgp":               "msgpack for languages without extensions, and the values of registered Go types: numbers, texts and heads, appended to and read from []byte; the msgpack library that is kept (a release this year), reads every length against what is left, and allocates nothing by itself",
	"github.com/spf13/cobra":                "command line of the daemon: help, completion, the usual flags",
	"go.yaml.in/yaml/v3":                    "supervision trees and configuration in files: keeps line and column; maintained by the YAML organization, and testify needs it anyway",
	"github.com/prometheus":                 "metrics: client_golang, and the text format and linter that its tests need",
	"github.com/google/pprof":               "profiles: reads and sums up what Go's runtime writes, as go tool pprof does",
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
	"golang.org/x/mod":                      "tests: the module as a zip, as a proxy serves it; of Go's authors",
	"golang.org/x/net":                      "nettest: the conformance tests of a net.Conn, for the network in node/nodetest",
	"golang.org/x/sync":                     "errgroup: several hosts asked at a time, so many at most",
	"github.com/hashicorp/memberlist":       "gossip: SWIM with Lifeguard, what Consul and Nomad run on; released this year, the alternatives are layers on it (serf) or long without a release",
	"go.opentelemetry.io/otel":              "traces: the API of OpenTelemetry; tests: its SDK, which records spans",
	"github.com/miekg/dns":                  "tests: a real DNS server on loopback; memberlist needs it anyway",
}

// further lists what other modules use in addition to outside: these requirements are not in go.mod.
var further = map[string]map[string]string{
	"examples": {
		"golang.org/x/time":          "the rate limiter that a Go program has",
		"github.com/coder/websocket": "chat: WebSockets; kept (a release this year), small, no dependencies, contexts throughout",
	},
	"bench/peers/grpc": {
		"google.golang.org/grpc":     "the peer that is measured",
		"google.golang.org/protobuf": "its messages",
	},
	"bench/peers/protoactor": {
		"github.com/asynkron/protoactor-go": "the peer that is measured",
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

// pkg is a package of the repository, with its tests.
type pkg struct {
	*build.Package
	module string // the folder of its go.mod, "." for the root
}

// packages returns the packages of all modules of the repository. It reads them without the go command, which would
// need everything that the tests of all modules need.
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

// The modules that go.work builds together use the versions that the module of the daemon has: what is built from a
// folder of the repository is what its users get.
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

// local returns a path below the module.
func local(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

func TestImportsRunDownward(t *testing.T) {
	rows := make(map[string]int)
	for i, row := range house {
		for _, path := range row {
			_, twice := rows[path]
			require.False(t, twice, "%s stands twice in house", path)
			rows[path] = i
		}
	}
	seen := make(map[string]bool)
	for _, p := range packages(t) {
		from := local(p.ImportPath)
		row, ok := rows[from]
		if ofItsOwn(from) {
			row = len(house)
		} else {
			require.True(t, ok, "%s has no row: enter it in house", p.ImportPath)
			seen[from] = true
		}
		for _, imp := range p.Imports {
			to := local(imp)
			if !strings.HasPrefix(imp, module) || first(to) == first(from) && row == len(house) {
				continue
			}
			below, ok := rows[to]
			require.True(t, ok && below < row, "%s imports %s, which is not below it in house", p.ImportPath, imp)
		}
	}
	for path := range rows {
		require.True(t, seen[path], "there is no package %s", path)
	}
}

// ofItsOwn reports whether a package is in bench, deploy or examples, which are modules of their own.
func ofItsOwn(path string) bool {
	return slices.Contains([]string{"bench", "deploy", "examples"}, first(path))
}

// first returns the first folder of a path.
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
