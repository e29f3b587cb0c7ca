package contract

import (
	"os"
	"strconv"
	"strings"
)

// RSS returns the resident bytes of this OS process, or 0 without /proc. The extra.bytes_per_actor of a bench is its growth
// divided by the number of actors.
func RSS() int { return resident("VmRSS") }

// PeakRSS returns the peak of resident bytes, or 0 without /proc.
func PeakRSS() int { return resident("VmHWM") }

func resident(field string) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return statusBytes(string(status), field)
}

// statusBytes finds a line such as "VmRSS: 1234 kB", whose unit is KiB.
func statusBytes(status, field string) int {
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		if name != field {
			continue
		}
		words := strings.Fields(rest)
		if len(words) != 2 || words[1] != "kB" {
			return 0
		}
		kib, _ := strconv.Atoi(words[0]) // 0 if not a number
		return kib << 10
	}
	return 0
}
