package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// module is the path of this project's module.
const module = "github.com/actornode/actornode"

// testedReleases lists the releases of OTP tested by the suite of deploy/interop.
const testedReleases = "25, 27, 29"

// release and releaseCommit are set by the linker, only in release builds: see deploy/release.
var release, releaseCommit string

// version describes the version of a program.
type version struct {
	Program   string `json:"program"`
	Version   string `json:"version"`
	Actornode string `json:"actornode"` // of the module
	Commit    string `json:"commit,omitempty"`
	Go        string `json:"go"`
	System    string `json:"system"`
	OTP       string `json:"tested_otp"`
}

// versionOf reads the version of the program from the build information.
func versionOf(p Program) version {
	v := version{Program: p.name(), Version: p.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		OTP: testedReleases}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	v.Version = cmp.Or(v.Version, release, info.Main.Version, "(unknown)")
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			v.Actornode = cmp.Or(release, m.Version)
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				v.Commit += " (modified)"
			}
		}
	}
	v.Commit = cmp.Or(releaseCommit, v.Commit)
	return v
}

// line is the output of --version.
func (v version) line() string { return v.Program + " version " + v.Version }

func versionCommand(env environment, status *exit) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version of this program",
		Long: "Prints the version of the program and of the module actornode in it, the commit, the version of\n" +
			"Go, and the releases of Erlang/OTP that this version was tested with.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			*status = exitFailed
			v := versionOf(env.program)
			if asJSON {
				return encodeJSON(env, v)
			}
			var b strings.Builder
			fmt.Fprintln(&b, v.line())
			row := func(name, value string) {
				if value != "" {
					fmt.Fprintf(&b, "  %-10s %s\n", name, value)
				}
			}
			row("actornode", v.Actornode)
			row("commit", v.Commit)
			row("go", v.Go+" "+v.System)
			row("tested", "with Erlang/OTP "+v.OTP)
			_, err := env.stdout.Write([]byte(b.String()))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
