package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// sums is the name of the file with the checksums.
const sums = "SHA256SUMS"

// allTargets lists the targets of a release.
var allTargets = []target{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runCommand(ctx, os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "release: "+err.Error())
		os.Exit(1)
	}
}

// runCommand runs the command line.
func runCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	out := flags.String("out", "", "folder to write; it must be empty, new, or an earlier release")
	version := flags.String("version", "", "version, vX.Y.Z; default: the tag of the commit, else a pseudo-version")
	targets := flags.String("targets", "", "OS/ARCH, with commas between; default: all")
	profile := flags.Bool("profile", true, "use cmd/actornode/default.pgo; takes minutes for each target")
	flags.Parse(args)
	if *out == "" || flags.NArg() > 0 {
		return fmt.Errorf("usage: release -out FOLDER [-version vX.Y.Z] [-targets OS/ARCH,...] [-profile=false]")
	}
	source, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	wanted, err := parseTargets(*targets)
	if err != nil {
		return err
	}
	rev, err := readRevision(ctx, source, *version)
	if err != nil {
		return err
	}
	r := release{revision: rev, source: source, profile: *profile}
	return r.make(ctx, *out, wanted)
}

// parseTargets parses a list of OS/ARCH; an empty text means all.
func parseTargets(text string) ([]target, error) {
	if text == "" {
		return allTargets, nil
	}
	var all []target
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(allTargets, func(t target) bool { return t.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("-targets: %q is none of %v", word, allTargets)
		}
		if !slices.Contains(all, allTargets[i]) {
			all = append(all, allTargets[i])
		}
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Compare(a.String(), b.String()) })
	return all, nil
}

// release holds the parameters of a release of one commit.
type release struct {
	revision
	source  string // root of the repository
	profile bool   // whether the compiler uses the profile
}

// make writes the files of the targets into the directory out.
func (r release) make(ctx context.Context, out string, targets []target) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := mayReplace(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	files := filepath.Join(work, "files")
	if err := os.Mkdir(files, 0o755); err != nil {
		return err
	}
	docs, err := r.documents()
	if err != nil {
		return err
	}
	for _, t := range targets {
		fmt.Fprintf(os.Stderr, "release: %s %s\n", r.version, t)
		binary := filepath.Join(work, t.goos+"-"+t.goarch, t.binary())
		if err := r.build(ctx, t, binary); err != nil {
			return err
		}
		if err := r.publish(t, binary, docs, files); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := writeSums(files); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(files, out)
}

// publish makes all files of a target from its binary and the documents.
func (r release) publish(t target, binary string, docs []file, to string) error {
	code, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	if err := r.archive(t, append([]file{{t.binary(), 0o755, code}}, docs...), to); err != nil {
		return err
	}
	if err := r.bill(t, binary, to); err != nil {
		return err
	}
	if t.goos != "linux" {
		return nil
	}
	return r.packages(t, code, docs, to)
}

// mayReplace returns an error if out is a directory that a release must not replace.
func mayReplace(out string) error {
	found, err := os.ReadDir(out)
	if os.IsNotExist(err) || err == nil && len(found) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, sums)); err != nil {
		return fmt.Errorf("-out: %s is neither empty nor an earlier release (no file %s): remove it or name another folder", out, sums)
	}
	return nil
}
