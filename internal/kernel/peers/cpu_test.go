package peers

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

func TestCPUQuota(t *testing.T) {
	const own = "proc/self/cgroup"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"another system", nil, false},
		{"nothing mounted", map[string]string{own: "0::/a\n"}, false},
		{"version 2, none", map[string]string{own: "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, false},
		{"version 2", map[string]string{own: "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, true},
		{"version 2, above", map[string]string{own: "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
			"sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, true},
		{"version 2, in a container", map[string]string{own: "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, true},
		{"version 2, beside", map[string]string{own: "0::/a\n", "sys/fs/cgroup/b/cpu.max": "50000 100000\n"}, false},
		{"version 2, the name of the host", map[string]string{own: "0::/../../x\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, true},
		{"version 1, none", map[string]string{own: "2:cpu:/a\n1:memory:/\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "-1\n"}, false},
		{"version 1", map[string]string{own: "2:cpu:/a\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "50000\n"}, true},
		{"version 1, two controllers", map[string]string{own: "4:cpu,cpuacct:/a/b\n",
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "50000\n"}, true},
		{"version 1, in a container", map[string]string{own: "2:cpu:/docker/x\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n"}, true},
		{"version 1, another controller", map[string]string{own: "2:cpuset:/a\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "50000\n"}, false},
		{"nonsense", map[string]string{own: "\n:\nx:y\n0:\n0::\n2:cpu:\n", "sys/fs/cgroup/cpu.max": "\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "much\n"}, false},
	} {
		root := fstest.MapFS{}
		for name, text := range test.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		assert.Equal(t, test.want, CPUQuota(root), test.name)
	}
}
