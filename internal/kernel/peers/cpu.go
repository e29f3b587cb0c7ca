package peers

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const mount = "sys/fs/cgroup"

// CPUQuota reports whether a control group of this program has a CPU quota. Files that cannot be read count as no quota. root
// is os.DirFS("/").
func CPUQuota(root fs.FS) bool {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(groups)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		if id == "0" && controllers == "" {
			if anyAbove(root, mount, group, "cpu.max", func(first string) bool { return first != "max" }) {
				return true
			}
			continue
		}
		for controller := range strings.SplitSeq(controllers, ",") {
			if controller != "cpu" {
				continue
			}
			for _, dir := range []string{"cpu", controllers} {
				if anyAbove(root, path.Join(mount, dir), group, "cpu.cfs_quota_us", func(first string) bool {
					n, err := strconv.ParseInt(first, 10, 64)
					return err == nil && n > 0
				}) {
					return true
				}
			}
		}
	}
	return false
}

// anyAbove reports whether limits returns true for the first word of file in group or in a group above it, up to top.
func anyAbove(root fs.FS, top, group, file string, limits func(first string) bool) bool {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join(top, group, file))
		if words := strings.Fields(string(text)); err == nil && len(words) > 0 && limits(words[0]) {
			return true
		}
		if group == "/" {
			return false
		}
	}
}
