package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/actornode/actornode/internal/daemon/admin"
)

// Styles of output for people. The writer removes the colours if the output is not a terminal, and with NO_COLOR.
var (
	headStyle  = lipgloss.NewStyle().Bold(true)
	faintStyle = lipgloss.NewStyle().Faint(true)
	goodStyle  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	warnStyle  = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	badStyle   = lipgloss.NewStyle().Foreground(lipgloss.Red)
	nameStyle  = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

// screen returns the writer for coloured text.
func (s *session) screen() io.Writer { return screenOf(s.env) }

func screenOf(env environment) io.Writer {
	return &colorprofile.Writer{Forward: env.stdout, Profile: colorprofile.Detect(env.terminal, environOf(env))}
}

// environOf returns the variables that describe the terminal.
func environOf(env environment) []string {
	var all []string
	for _, k := range []string{"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM_PROGRAM", "WT_SESSION", "TMUX",
		"COLUMNS"} {
		if v, ok := env.lookup(k); ok {
			all = append(all, k+"="+v)
		}
	}
	return all
}

// widthOf returns the number of columns of a terminal, or 0 if w is not one.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// column of a table.
type column struct {
	title string
	right bool // right-aligned, for numbers
	gives bool // may be cut if the terminal is too narrow
}

// leastWidth is the minimum width of a column that may be cut.
const leastWidth = 8

// fit cuts the cells of columns with gives set so that rows are not wider than width, if possible. Columns are two spaces
// apart.
func fit(width int, columns []column, rows [][]string) {
	widths, total := make([]int, len(columns)), 2*(len(columns)-1)
	for i, c := range columns {
		widths[i] = lipgloss.Width(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], lipgloss.Width(row[i]))
		}
		total += widths[i]
	}
	for i, c := range columns {
		if less := min(total-width, widths[i]-leastWidth); c.gives && less > 0 {
			total -= less
			for _, row := range rows {
				row[i] = ansi.Truncate(row[i], widths[i]-less, "…")
			}
		}
	}
}

// writeTable prints titles and rows for a terminal of the given width, or 0 without a terminal.
func writeTable(w io.Writer, width int, columns []column, rows [][]string) error {
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	if width > 0 {
		fit(width, columns, rows)
	}
	t := table.New().Headers(titles...).Rows(rows...).Wrap(false).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if row == table.HeaderRow {
				style = headStyle
			}
			if col < len(columns)-1 {
				style = style.PaddingRight(2)
			}
			if columns[col].right {
				style = style.Align(lipgloss.Right)
			}
			return style
		})
	for line := range strings.Lines(t.String() + "\n") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// table prints rows for people.
func (s *session) table(columns []column, rows [][]string) error {
	return writeTable(s.screen(), widthOf(s.env.terminal), columns, rows)
}

// fields prints the pairs of name and value whose value is not empty.
func (s *session) fields(pairs [][2]string) error {
	w, widest := s.screen(), 0
	for _, p := range pairs {
		widest = max(widest, lipgloss.Width(p[0]))
	}
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		pad := strings.Repeat(" ", widest-lipgloss.Width(p[0]))
		if _, err := fmt.Fprintf(w, "%s%s  %s\n", headStyle.Render(p[0]), pad, p[1]); err != nil {
			return err
		}
	}
	return nil
}

// bytesText formats a size with about three digits: 1.4 MiB.
func bytesText[N int | uint64](n N) string {
	size, units := float64(n), "KMGTPE"
	if size < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size /= 1024
	for size >= 1023.95 && len(units) > 1 {
		size /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", size, units[0])
}

// spanText formats a duration in its two largest units: 3d4h, 1h2m, 2m3s, 4.5s, 6ms.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

// countText formats a number with its thousands separated.
func countText[N int | uint64](n N) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// momentText formats a local time of day, with the date if it is not today.
func momentText(t admin.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
