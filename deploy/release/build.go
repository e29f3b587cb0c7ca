package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// program is the package that is built, and where in it the linker notes the version: internal/daemon/command/version.go.
const (
	program = "./cmd/actornode"
	noted   = "github.com/actornode/actornode/internal/daemon/command."
)

// target is a system that a binary is for.
type target struct{ goos, goarch string }

func (t target) String() string { return t.goos + "/" + t.goarch }

// binary is the name of the program there.
func (t target) binary() string {
	if t.goos == "windows" {
		return "actornode.exe"
	}
	return "actornode"
}

// build writes the binary of a target.
func (r release) build(ctx context.Context, t target, to string) error {
	profile := "off"
	if r.profile {
		profile = "auto"
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-pgo="+profile,
		"-ldflags", fmt.Sprintf("-s -w -buildid= -X %srelease=%s -X %sreleaseCommit=%s", noted, r.version, noted, r.commit),
		"-o", to, program)
	c.Dir, c.Env = r.source, environment(t)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	return nil
}

// environment is that of the process, without what changes the code that the compiler writes.
func environment(t target) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOEXPERIMENT", "GOWORK", "GOFIPS140", "CGO_ENABLED", "GOAMD64", "GOARM64":
		default:
			env = append(env, v)
		}
	}
	return append(env, "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+t.goos, "GOARCH="+t.goarch, "GOAMD64=v1", "GOARM64=v8.0")
}
