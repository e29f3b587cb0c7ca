package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit/recorded"
	"github.com/actornode/actornode/node/gossip"
	"github.com/actornode/actornode/node/metrics"
)

const toRoot = "../../.."

// The commands, flags and exit statuses of the last version are still there.
func TestRecordedCommands(t *testing.T) {
	var lines []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		lines = append(lines, c.CommandPath()+": command")
		for _, a := range c.Aliases {
			lines = append(lines, strings.TrimSpace(c.Parent().CommandPath()+" "+a)+": command")
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			lines = append(lines, fmt.Sprintf("%s --%s: flag %s", c.CommandPath(), f.Name, f.Value.Type()))
			if f.Shorthand != "" {
				lines = append(lines, fmt.Sprintf("%s -%s: flag %s", c.CommandPath(), f.Shorthand, f.Name))
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(Commands(Program{}))
	for status, text := range map[exit]string{exitOK: "done", exitFailed: "failed", exitUsage: "wrong command line",
		exitUnreachable: "node not reachable", exitCookie: "wrong cookie", exitNotFound: "no such process, name or function",
		exitTimeout: "timeout", exitRefused: "not allowed", exitUnsupported: "not supported by the node",
		exitService: "a daemon ended because a service ended too often", exitFindings: "doctor has found something wrong",
		exitInterrupted: "interrupted"} {
		lines = append(lines, fmt.Sprintf("exit status %d: %s", status, text))
	}
	recorded.Check(t, toRoot, "commands", lines)
}

// The fields of the last version, with their flags, variables and defaults, are still there; so are those of trees.
func TestRecordedConfiguration(t *testing.T) {
	var lines []string
	for _, s := range config.Default().Settings() {
		lines = append(lines, fmt.Sprintf("%s: default %q", s.Key, s.Value.String()), s.Env()+": variable of "+s.Key)
		for _, flag := range []string{s.Flag, s.Not} {
			if flag != "" {
				lines = append(lines, fmt.Sprintf("--%s: flag of %s", flag, s.Key))
			}
		}
	}
	sources, err := filepath.Glob(toRoot + "/supervisor/tree/*.go")
	require.NoError(t, err)
	for _, file := range sources {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\bfield\{Name: "([a-z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, m[1]+" of a tree: field")
		}
	}
	recorded.Check(t, toRoot, "configuration", lines)
}

// The metrics of the last version, with their labels, are still there.
func TestRecordedMetrics(t *testing.T) {
	finders := &daemon{gossip: new(gossip.Finder), dns: new(dnsFinder)}
	all := append(finders.finderMetrics(), finders.logMetrics()...)
	all = append(all, metrics.New(metrics.Config{}))
	form := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	var lines []string
	for _, c := range all {
		descriptions := make(chan *prometheus.Desc, 1000)
		c.Describe(descriptions)
		close(descriptions)
		for d := range descriptions {
			m := form.FindStringSubmatch(d.String())
			require.NotNil(t, m, d.String())
			lines = append(lines, fmt.Sprintf("%s: labels {%s}", m[1], m[2]))
		}
	}
	require.Greater(t, len(lines), 40)
	recorded.Check(t, toRoot, "metrics", lines)
}

// views are the values that commands print as JSON.
var views = map[string]any{
	"status": admin.Summary{}, "ps": admin.Listing{}, "info": viewOf(admin.Detail{}).(escaped).v, "nodes": []admin.Peer{},
	"tree": admin.Forest{}, "trace": viewOf(admin.Event{}).(escaped).v, "deadletters --follow": viewOf(admin.Letter{}).(escaped).v,
	"version": version{}, "log level": struct {
		Processes []admin.ProcessLevel `json:"processes"`
	}{},
	"top": struct {
		Status admin.Summary `json:"status"`
		admin.Listing
	}{},
}

// The fields of the last version's JSON are still there: those of the types that commands print, and those that the
// sessions have.
func TestRecordedJSON(t *testing.T) {
	var lines []string
	for name, v := range views {
		fields(reflect.TypeOf(v), func(path, kind string) {
			lines = append(lines, fmt.Sprintf("actornode %s --json %s: %s", name, path, kind))
		})
	}
	lines = append(lines, played(t)...)
	recorded.Check(t, toRoot, "json", lines)
}

// fields calls add for each field that a value of a type has as JSON.
func fields(of reflect.Type, add func(path, kind string)) {
	switch {
	case of.Kind() == reflect.Pointer:
		fields(of.Elem(), add)
	case jsonKind(of) == "array":
		fields(of.Elem(), func(path, kind string) { add("[]"+path, kind) })
	case of.Kind() == reflect.Struct && jsonKind(of) == "object":
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || name == "" || name == "-" {
				continue
			}
			add("."+name, jsonKind(f.Type))
			if f.Type != reflect.SliceOf(of) { // a tree
				fields(f.Type, func(path, kind string) { add("."+name+path, kind) })
			}
		}
	}
}

var texter = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

func jsonKind(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return "number"
	case of.Implements(texter), reflect.PointerTo(of).Implements(texter):
		return "string"
	}
	switch of.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return jsonKind(of.Elem())
	case reflect.Interface:
		return "any"
	}
	return "number"
}

// played returns a line for each field in the JSON of the sessions, which show values as N and ….
func played(t *testing.T) (lines []string) {
	files, err := filepath.Glob("testdata/session/*.txt")
	require.NoError(t, err)
	run := regexp.MustCompile(`(?m)^\$ actornode ([a-z]+(?: level)?)\b.* --json.*\n(\{.*\})$`)
	number := regexp.MustCompile(`([:,\[])N\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range run.FindAllStringSubmatch(string(text), -1) {
			plain := number.ReplaceAllString(strings.ReplaceAll(m[2], "[…]", "[]"), "${1}0")
			var v map[string]any
			require.NoError(t, json.Unmarshal([]byte(plain), &v), "%s: %s", file, plain)
			delete(v, "json") // a term, which may be anything
			for name, value := range v {
				lines = append(lines, fmt.Sprintf("actornode %s --json .%s: %s", m[1], name, jsonKind(reflect.TypeOf(value))))
			}
		}
	}
	require.Greater(t, len(lines), 20)
	return lines
}
