package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log has the reason for which a daemon has ended, in every format and at every destination, and each line names
// its node.
func TestFatalErrors(t *testing.T) {
	const base = "name: go@127.0.0.1\ncookie: secret\ndiscovery: {epmd: false, peers: {b@127.0.0.1: '127.0.0.1:1'}}\n"
	for name, c := range map[string]struct {
		text string
		vars map[string]string
		says []string // in the last line of the log
	}{
		"no cookie":                {text: strings.Replace(base, "cookie: secret", "cookie_file: none", 1), says: []string{"cannot start", "none"}},
		"no such address":          {text: base + "listen: {erlang: '192.0.2.1:0'}\n", says: []string{"cannot start", "192.0.2.1"}},
		"no such address for HTTP": {text: base + "http: {listen: '192.0.2.1:80'}\n", says: []string{"192.0.2.1"}},
		"a child that crashes": {text: base + "supervisor: {intensity: 2, period: 10s, children: [{name: pay, start: 'demo:exit', args: [no_database]}]}\n",
			says: []string{"pay", "no_database", "given up"}},
	} {
		for _, format := range []string{"text", "json"} {
			for _, file := range []string{"", "x.log"} {
				t.Run(strings.Join([]string{name, format, file}, " "), func(t *testing.T) {
					dir := t.TempDir()
					text := c.text + "log: {format: " + format
					if file != "" {
						text += ", file: " + file
					}
					config := filepath.Join(dir, "a.yaml")
					require.NoError(t, os.WriteFile(config, []byte(text+"}\n"), 0o600))
					env, _, errs := newEnvironment(t, c.vars)
					require.NotEqual(t, exitOK, run(t.Context(), []string{"start", "--config", config}, env))
					log := errs.String()
					if file != "" {
						b, err := os.ReadFile(filepath.Join(dir, file))
						require.NoError(t, err)
						require.Contains(t, log, "Error: ")
						log = string(b)
					}
					lines := strings.Split(strings.TrimSpace(log), "\n")
					if format == "text" && file == "" {
						require.Contains(t, lines[len(lines)-1], "Error: ")
						lines = lines[:len(lines)-1]
					}
					require.Contains(t, lines[0], "starting")
					require.Contains(t, lines[0], "a.yaml")
					last := ""
					for _, line := range lines {
						if format == "json" {
							var r map[string]any
							require.NoError(t, json.Unmarshal([]byte(line), &r), line)
							require.Equal(t, "go@127.0.0.1", r["node"], line)
						} else {
							require.Contains(t, line, " node=go@127.0.0.1", line)
						}
						if strings.Contains(line, "ERROR") {
							last = line
						}
					}
					for _, part := range c.says {
						require.Contains(t, last, part)
					}
					if file != "" {
						require.Contains(t, errs.String(), c.says[len(c.says)-1])
					}
				})
			}
		}
	}
	env, _, errs := newEnvironment(t, map[string]string{"ACTORNODE_LOG_FORMAT": "json", "ACTORNODE_TICK_TIME": "soon"})
	require.NotEqual(t, exitOK, run(t.Context(), []string{"start"}, env))
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(errs.String()), &r), errs.String())
	require.Contains(t, r["error"], "ACTORNODE_TICK_TIME")
}
