// Package cgroup reads what the control groups of Linux grant this program. On other
// systems, and where nothing is mounted, there is no group and no limit.
//
// It reads three kinds of files, all relative to the root of a file system, which a test
// makes up:
//
//	proc/self/cgroup                              the groups of this process, one a line
//	sys/fs/cgroup/GROUP/cpu.max                   version 2: "QUOTA PERIOD", QUOTA may be max
//	sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us      version 1: the quota; -1: none
//
// A limit of a group is one of all groups in it, so those above are looked at, too. In a
// container the group's name may be that of the host, under which nothing is mounted; what
// is mounted at the top is the container's own then. The package starts no goroutine and
// remembers nothing.
package cgroup
