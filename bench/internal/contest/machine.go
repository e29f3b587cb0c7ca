package contest

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine describes the machine of a contest. Unknown fields are "".
type machine struct {
	cpu    string
	cores  int
	memory string
	kernel string
	golang string
}

func here() machine {
	read := func(path string) string {
		text, _ := os.ReadFile(path) // "" where there is no /proc
		return string(text)
	}
	return machine{
		cpu:    procField(read("/proc/cpuinfo"), "model name"),
		cores:  runtime.NumCPU(),
		memory: gib(procField(read("/proc/meminfo"), "MemTotal")),
		kernel: strings.TrimSpace(runtime.GOOS + " " + read("/proc/sys/kernel/osrelease")),
		golang: runtime.Version() + " " + runtime.GOARCH,
	}
}

// procField finds the first line "name : value".
func procField(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// gib turns "1048576 kB" into "1.0 GiB".
func gib(text string) string {
	kib, err := strconv.Atoi(strings.TrimSuffix(text, " kB"))
	if err != nil {
		return text
	}
	return fmt.Sprintf("%.1f GiB", float64(kib)/(1<<20))
}

// String describes the machine in a few words.
func (m machine) String() string {
	var words []string
	for _, w := range []string{m.cpu, fmt.Sprintf("%d cores", m.cores), m.memory, m.kernel, m.golang} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
