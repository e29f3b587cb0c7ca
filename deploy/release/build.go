package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// program is the built package; the linker sets the version in internal/daemon/command/version.go.
const (
	program = "./cmd/actornode"
	noted   = "github.com/actornode/actornode/internal/daemon/command."
)

// target is the system of a binary.
type target struct{ goos, goarch string }

func (t target) String() string { return t.goos + "/" + t.goarch }

// binary is the name of the program on the target.
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

// environment returns the environment of the process, without variables that affect the generated code.
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
