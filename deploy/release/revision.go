package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// semantic matches a version of the go command.
var semantic = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$`)

// modified is the suffix of the version of uncommitted files.
const modified = "+modified"

// revision is the released state of the repository.
type revision struct {
	version string    // v1.2.3, v1.3.0-rc.1, v0.0.0-TIME-COMMIT; with the suffix +modified if not everything is committed
	commit  string    // 40 hex digits
	time    time.Time // of the commit, UTC
}

// readRevision reads the revision from git. version overrides the tag of the commit, unless it is empty.
func readRevision(ctx context.Context, source, version string) (r revision, err error) {
	head, err := git(ctx, source, "log", "-1", "--format=%H %ct")
	if err != nil {
		return r, err
	}
	commit, seconds, _ := strings.Cut(head, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return r, fmt.Errorf("git log has no commit time: %q", head)
	}
	changes, err := git(ctx, source, "status", "--porcelain")
	if err != nil {
		return r, err
	}
	r = revision{version: version, commit: commit, time: time.Unix(unix, 0).UTC()}
	if r.version == "" {
		tags, err := git(ctx, source, "tag", "--points-at", "HEAD", "--sort=-version:refname")
		if err != nil {
			return r, err
		}
		r.version = pick(strings.Fields(tags), r)
	}
	if !semantic.MatchString(r.version) {
		return r, fmt.Errorf("-version: %q is no version vX.Y.Z or vX.Y.Z-PRERELEASE", r.version)
	}
	if changes != "" && !strings.HasSuffix(r.version, modified) {
		r.version += modified
	}
	return r, nil
}

// pick returns the first tag that is a version, else the pseudo-version of the revision.
func pick(tags []string, r revision) string {
	for _, t := range tags {
		if semantic.MatchString(t) {
			return t
		}
	}
	return fmt.Sprintf("v0.0.0-%s-%.12s", r.time.Format("20060102150405"), r.commit)
}

// git runs git on the repository and returns what it prints.
func git(ctx context.Context, source string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", source}, args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
	} else if err != nil {
		return "", fmt.Errorf("the revision comes from git: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// plain is the version without its "v", for names of files.
func (r revision) plain() string { return strings.TrimPrefix(r.version, "v") }

// parts splits the version for packages: 1.2.3, the pre-release, and the metadata.
func (r revision) parts() (version, before, more string) {
	m := semantic.FindStringSubmatch(r.version)
	dots := strings.NewReplacer("-", ".")
	return m[1], dots.Replace(m[2]), dots.Replace(m[3])
}
