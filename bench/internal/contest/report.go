package contest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// report is a board with the machine and time of the contest.
type report struct {
	board   *Board
	machine machine
	date    time.Time
}

// The files that a contest writes into the bench directory.
const (
	pageFile  = "RESULTS.md"
	chartFile = "RESULTS.svg"
)

// write writes both files into dir.
func (r report) write(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, pageFile), []byte(r.page()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, chartFile), []byte(r.chart()), 0o644)
}

// page returns the results as Markdown.
func (r report) page() string {
	b := r.board
	var out strings.Builder
	fmt.Fprintf(&out, "# Results\n\n![Speed against Erlang](%s)\n\n", chartFile)
	fmt.Fprintf(&out, "- Machine: %s\n", r.machine)
	for _, e := range b.Entrants {
		if v := b.version(e.Name); v != "" && e.style == "" {
			fmt.Fprintf(&out, "- %s: %s\n", e.Name, v)
		}
	}
	fmt.Fprintf(&out, "- Date: %s\n- Rounds: %d, interleaved\n\n", r.date.Format(time.DateOnly), b.Rounds)
	out.WriteString("Figures are medians over the rounds. × Erlang is the median of the rounds' own ratios, Erlang's ns/op\n" +
		"divided by the system's: more is better. ✓ and ✗ say whether a target is met: the ratio, the bytes an\n" +
		"actor, and Erlang's peak memory (RSS) and unevenness (stddev), which are not to be exceeded.\n\n")
	b.writeMarkdown(&out)
	if v := b.verdict(); v != "" {
		fmt.Fprintf(&out, "\n%s\n", v)
	}
	if failures := b.failures(); len(failures) > 0 {
		out.WriteString("\nFailed:\n\n")
		for _, f := range failures {
			fmt.Fprintf(&out, "- `%s`\n", strings.ReplaceAll(f, "`", "'"))
		}
	}
	out.WriteString("\nMade by `go run ./bench compare`.\n")
	return out.String()
}
