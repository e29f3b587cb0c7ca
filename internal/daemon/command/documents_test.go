package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/markdown"
)

// documents returns the documents that package docs tests, too: its documentation explains the notes of a block.
func documents(t *testing.T) []*markdown.Document {
	all, err := markdown.Find("../../..")
	require.NoError(t, err)
	require.Greater(t, len(all), 10)
	return all
}

// TestDocuments plays the console sessions of README.md and docs, each with the daemons
// that its notes name.
func TestDocuments(t *testing.T) {
	testkit.From(t, testkit.Merge, "documents")
	for _, d := range documents(t) {
		t.Run(strings.TrimSuffix(d.Path, ".md"), func(t *testing.T) {
			t.Parallel()
			var s *cliTest
			waits := ""
			for _, b := range d.Blocks {
				if b.Lang != "console" {
					continue
				}
				for _, program := range strings.Fields(strings.Join(b.Note("needs"), " ")) {
					if _, err := exec.LookPath(program); err != nil {
						t.Skipf("%s:%d and what follows is not played: no %s on the PATH", d.Path, b.Line, program)
					}
				}
				if daemons := b.Note("daemon"); len(daemons) > 0 || s == nil {
					s, waits = newCLITest(t), strings.Join(b.Note("waits for"), "")
					if strings.Contains(strings.Join(daemons, " "), "--demo") {
						waits = "counter"
					}
					require.NoError(t, os.CopyFS(s.home+"/deploy/samples", os.DirFS("../../../deploy/samples")))
					for _, flags := range daemons {
						s.daemon(t, strings.Fields(flags)...)
					}
				}
				said := s.follow(t, b.Text, waits)
				require.Equal(t, masked(b.Text), said, "%s:%d: the session goes another way", d.Path, b.Line)
			}
		})
	}
}

// follow plays a session as play does. Before each command it waits until the process with the name waits has nothing
// to do: a reader is slower than what follows an answer.
func (s *cliTest) follow(t *testing.T, session, waits string) string {
	var all string
	for i, part := range strings.Split("\n"+session, "\n$ ") {
		if i == 0 {
			continue
		}
		if waits != "" {
			eventually(t, waits+" has nothing to do", func() bool {
				about := s.shell(t, "actornode info "+waits+" --json")
				return strings.Contains(about, `"state":"idle"`) && strings.Contains(about, `"mailbox":0`)
			})
		}
		all += s.play(t, "$ "+strings.TrimSuffix(part, "\n")+"\n")
	}
	return regexp.MustCompile(`(?m)^\[exit \d+\]\n`).ReplaceAllString(all, "")
}

// actornode check accepts every configuration in the documents.
func TestDocumentsConfigurations(t *testing.T) {
	for _, d := range documents(t) {
		for _, b := range d.Blocks {
			if b.Lang != "yaml" || b.Has("not ours") {
				continue
			}
			text := b.Text
			if !strings.HasPrefix("\n"+text, "\nname:") && !strings.Contains(text, "\nname:") {
				text = "name: go@127.0.0.1\n" + text
			}
			env, _, errs := newEnvironment(t, nil)
			file := filepath.Join(t.TempDir(), "actornode.yaml")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			assert.Equal(t, exitOK, run(t.Context(), []string{"check", file, "--elsewhere"}, env), "%s:%d: %s", d.Path, b.Line, errs.String())
		}
	}
}

// Every command of actornode that the documents show exists, and so do its flags.
func TestDocumentsCommands(t *testing.T) {
	env, _, _ := newEnvironment(t, nil)
	root := &cobra.Command{Use: "actornode"}
	status := exit(0)
	root.AddCommand(startCommand(env, &status), clusterCommand(env, &status), checkCommand(env, &status), probeCommand(env, &status))
	addClients(root, env, &status)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("x")
	flags := map[string]bool{"help": true}
	var collect func(c *cobra.Command)
	collect = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	collect(root)
	word := regexp.MustCompile(`^-?-?[a-z][a-z-]*`)
	looks := func(where, line string) {
		for _, part := range regexp.MustCompile(`[|;&()]+|\$\(`).Split(line, -1) {
			fields := strings.Fields(part)
			for len(fields) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(fields[0]) {
				fields = fields[1:]
			}
			switch {
			case len(fields) > 1 && fields[0] == "actornode":
				fields = fields[1:]
			case len(fields) > 3 && strings.HasPrefix(part, "go run ./cmd/actornode "):
				fields = fields[3:]
			default:
				continue
			}
			c := root
			if word.FindString(fields[0]) == fields[0] {
				found, _, err := root.Find(fields)
				if !assert.NoError(t, err, "%s: %s", where, part) {
					continue
				}
				c = found
			}
			for _, f := range fields {
				name, long := strings.CutPrefix(word.FindString(f), "--")
				short := strings.HasPrefix(f, "-") && !long && len(f) == 2
				if long && name != "" {
					there := name == "help" || c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil || c == root && flags[name]
					assert.True(t, there, "%s: %s has no flag --%s", where, c.CommandPath(), name)
				} else if short && f != "-h" && f[1] >= 'a' {
					assert.NotNil(t, c.Flags().ShorthandLookup(f[1:]), "%s: %s has no flag %s", where, c.CommandPath(), f)
				}
			}
		}
	}
	for _, d := range documents(t) {
		if !strings.HasPrefix(d.Path, "docs/") && d.Path != "README.md" {
			continue
		}
		for _, b := range d.Blocks {
			if b.Has("not ours") || b.Lang != "sh" && b.Lang != "console" {
				continue
			}
			for line := range strings.Lines(b.Text) {
				if rest, ok := strings.CutPrefix(line, "$ "); ok || b.Lang == "sh" {
					rest, _, _ = strings.Cut(rest, " # ")
					looks(fmt.Sprintf("%s:%d", d.Path, b.Line), strings.TrimSpace(rest))
				}
			}
		}
		for _, c := range d.Codes {
			if strings.HasPrefix(c.Text, "actornode ") || strings.HasPrefix(c.Text, "go run ./cmd/actornode ") {
				looks(fmt.Sprintf("%s:%d", d.Path, c.Line), c.Text)
			}
			if name, ok := strings.CutPrefix(c.Text, "--"); ok {
				name = regexp.MustCompile(`^[a-z-]+`).FindString(name)
				assert.True(t, flags[name], "%s:%d: actornode has no flag --%s", d.Path, c.Line, name)
			}
		}
	}
}
