package contest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/actornode/actornode/bench/internal/contract"
)

// columns of the table; if right is set, figures are right-aligned.
var columns = []struct {
	head  string
	right bool
}{
	{"bench", false}, {"params", false}, {"system", false}, {"ns/op", true},
	{"× Erlang", true}, {beforeColumn, true}, {"peak MiB", true}, {"extra", false}, {"target", false},
}

// rows returns the cells of the table: for each case a row for each participating peer and style, with the bench and its
// parameters in the first, and at the end a row for each peer that is not installed or failed to build.
func (b *Board) rows() [][]string {
	var rows [][]string
	for i, c := range b.Cases {
		bench, params := c.Bench, b.params(i).String()
		for j, e := range b.Entrants {
			if e.err != nil || e.style != "" && !e.takesPart(c) {
				continue
			}
			rows = append(rows, append([]string{bench, params, e.Name}, b.cellTexts(i, j)...))
			bench, params = "", ""
		}
	}
	for _, e := range b.Entrants {
		switch {
		case e.absent:
			rows = append(rows, []string{"all", "", e.Name, "not installed", "", "", "", "", ""})
		case e.err != nil:
			rows = append(rows, []string{"all", "", e.Name, "failed", "", "", "", "", ""})
		}
	}
	return rows
}

// cellTexts returns the last six columns.
func (b *Board) cellTexts(i, j int) []string {
	s, ok := b.score(i, j)
	target := list(s.checks, check.String)
	switch {
	case b.cells[i][j].err != nil:
		return []string{"failed", "", "", "", "", target}
	case !ok:
		return []string{"-", "", "", "", "", ""}
	}
	extra := list(s.extra, func(f contract.Field) string { return f.Key + " " + figure(f.Value.(float64)) })
	before := ""
	if s.before > 0 {
		before = times(s.before)
	}
	return []string{figure(s.nsPerOp), times(s.ratio), before, fmt.Sprintf("%.1f", s.rssMiB), extra, target}
}

// list joins items with commas.
func list[T any](items []T, text func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = text(item)
	}
	return strings.Join(texts, ", ")
}

func (c check) String() string {
	if c.met {
		return "✓ " + c.asked
	}
	return "✗ " + c.asked
}

// verdict counts the targets, or returns "" if there are none.
func (b *Board) verdict() string {
	asked, met := 0, 0
	for i := range b.Cases {
		for j := range b.Entrants {
			s, _ := b.score(i, j)
			for _, c := range s.checks {
				asked++
				if c.met {
					met++
				}
			}
		}
	}
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d targets met.", met, asked)
}

// times formats a ratio, or "-" for none.
func times(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}

// figure formats about four digits: further ones are noise.
func figure(f float64) string {
	switch {
	case f >= 1000 || f == 0:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	case f >= 0.1:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.2g", f)
}

// writeText writes the table for a terminal, with a blank line between cases and without empty columns.
func (b *Board) writeText(w io.Writer) error {
	rows := b.rows()
	widths := make([]int, len(columns))
	for _, row := range rows {
		for k, text := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(text))
		}
	}
	heads := make([]string, len(columns))
	for k, c := range columns {
		heads[k] = c.head
		if widths[k] > 0 {
			widths[k] = max(widths[k], utf8.RuneCountInString(c.head))
		}
	}
	var out strings.Builder
	writeLine(&out, heads, widths)
	for _, row := range rows {
		if row[0] != "" {
			out.WriteByte('\n')
		}
		writeLine(&out, row, widths)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func writeLine(out *strings.Builder, row []string, widths []int) {
	var line strings.Builder
	for k, text := range row {
		if widths[k] == 0 {
			continue
		}
		pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(text))
		if columns[k].right {
			line.WriteString(pad + text + "  ")
		} else {
			line.WriteString(text + pad + "  ")
		}
	}
	out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// beforeColumn is the column that a page lacks, since it describes one commit.
const beforeColumn = "× before"

// writeMarkdown writes the table for a page.
func (b *Board) writeMarkdown(out *strings.Builder) {
	var heads, rules []string
	for _, c := range columns {
		heads = append(heads, c.head)
		if c.right {
			rules = append(rules, "--:")
		} else {
			rules = append(rules, "---")
		}
	}
	for _, row := range slices.Concat([][]string{heads, rules}, b.rows()) {
		var cells []string
		for k, text := range row {
			if columns[k].head != beforeColumn {
				cells = append(cells, strings.ReplaceAll(text, "|", `\|`))
			}
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}
