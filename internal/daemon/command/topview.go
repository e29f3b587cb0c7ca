package command

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// headHeight is the number of lines about the node. The filter or an error, the titles, the processes and the help follow.
const headHeight = 3

var chosenStyle = lipgloss.NewStyle().Reverse(true)

// rows is how many processes fit on the screen.
func (t top) rows() int {
	return max(1, t.height-headHeight-2-lipgloss.Height(t.help.View(t.keys)))
}

// View is part of tea.Model.
func (t top) View() tea.View {
	lines := headLines(t.now, t.width)
	switch {
	case t.mode == modeFilter:
		lines = append(lines, t.filter.View())
	case t.failed != nil:
		lines = append(lines, badStyle.Render(printable.Text(t.failed.Error())))
	default:
		lines = append(lines, faintStyle.Render(t.noteLine()))
	}
	if t.mode == modeInfo {
		lines = append(lines, headStyle.Render("Process "+shownAt(t.shown.pid, t.now.sum.Node)), t.info.View(),
			faintStyle.Render("↑/↓ scroll • esc back • q quit"))
	} else {
		lines = append(lines, t.list()...)
		lines = append(lines, t.help.View(t.keys))
	}
	text := strings.Join(lines, "\n")
	lines = strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, t.width, "…")
	}
	v := tea.NewView(printable.Styled(strings.Join(lines[:min(len(lines), t.height)], "\n")))
	v.AltScreen = true
	v.WindowTitle = "actornode top"
	return v
}

// noteLine describes what is shown.
func (t top) noteLine() string {
	if t.now.at.IsZero() {
		return "…"
	}
	l := t.now.list
	text := fmt.Sprintf("%s processes by %s", countText(l.Matched), t.query.Sort)
	if t.query.Reverse {
		text += ", reversed"
	}
	if t.query.Text != "" {
		text += fmt.Sprintf(", with %q", t.query.Text)
	}
	if len(l.Processes) < l.Matched {
		text += fmt.Sprintf(", the first %d", len(l.Processes))
	}
	if t.paused {
		text += "; paused"
	}
	return text
}

// headLines returns the lines about the node. The time is right-aligned to width columns, and left out if it does not fit.
func headLines(v sampleMsg, width int) []string {
	if v.at.IsZero() {
		return make([]string, headHeight)
	}
	m := v.sum
	up, held := 0, 0
	for _, p := range m.Peers {
		if p.State == "up" {
			up++
		}
		if p.Held {
			held++
		}
	}
	peers := fmt.Sprintf("%d", up)
	if held > 0 {
		peers += warnStyle.Render(fmt.Sprintf(" (%d slow)", held))
	}
	letters, _ := deadLetters(m.DeadLetters)
	first := headStyle.Render(string(m.Node)) + "  " + stateText(m) + "  up " + spanText(m.Uptime)
	clock := v.at.Format("15:04:05")
	if gap := width - lipgloss.Width(first) - len(clock); gap > 1 {
		first += strings.Repeat(" ", gap) + faintStyle.Render(clock)
	}
	return []string{
		first,
		fmt.Sprintf("Processes %s (%s named)  Messages %s  Dead letters %s  Peers %s", countText(m.Processes), countText(m.Names),
			countText(m.Handled), letters, peers),
		fmt.Sprintf("Memory %s (%s objects)  Goroutines %s  Run queue %d", bytesText(m.Memory.Total), bytesText(m.Memory.Objects),
			countText(m.Goroutines), m.RunQueue),
	}
}

// topColumn is a column of the list; its title is marked if the list is sorted by sort.
type topColumn struct {
	title string
	sort  node.Atom
	width int
	right bool
	cell  func(p admin.Process) string
}

// columns returns the columns that fit; the last takes the rest of the line.
func (t top) columns() []topColumn {
	at, pid := t.now.sum.Node, 13
	for _, p := range t.now.list.Processes {
		pid = max(pid, len(shownAt(p.PID, at))) // it must be complete to be copied
	}
	all := []topColumn{
		{"PID", "pid", pid, false, func(p admin.Process) string { return shownAt(p.PID, at) }},
		{"STATE", "", 9, false, func(p admin.Process) string { return string(p.State) }},
		{"MAILBOX", "mailbox", 9, true, func(p admin.Process) string { return countText(p.Mailbox) }},
		{"HANDLED", "handled", 11, true, func(p admin.Process) string { return countText(p.Handled) }},
		{"RATE", "rate", 7, true, func(p admin.Process) string { return rateText(p.Rate) }},
		{"MEMORY", "memory", 9, true, func(p admin.Process) string { return bytesText(p.Memory) }},
	}
	if t.width >= 100 {
		all = append(all, topColumn{"AGE", "age", 8, true, func(p admin.Process) string { return spanText(p.Age) }},
			topColumn{"LINKS", "links", 6, true, func(p admin.Process) string { return countText(p.Links) }})
	}
	if t.width >= 150 {
		all = append(all, topColumn{"WAITS FOR", "wait", 40, false, func(p admin.Process) string { return waitText(p.Wait, at) }})
	}
	rest := t.width
	for _, c := range all {
		rest -= c.width + 1
	}
	return append(all, topColumn{"NAME", "name", max(8, rest), false, func(p admin.Process) string {
		if name := nameOf(p); name != "" {
			return name
		}
		return p.Behaviour
	}})
}

// list returns the titles and the visible processes.
func (t top) list() []string {
	columns := t.columns()
	titles := make([]string, len(columns))
	for i, c := range columns {
		title := c.title
		if c.sort == t.query.Sort && c.sort != "" {
			title = arrow(t.query) + title
		}
		titles[i] = cell(c, title)
	}
	lines := []string{headStyle.Underline(true).Render(strings.Join(titles, " "))}
	all := t.now.list.Processes
	for i := t.first; i < min(len(all), t.first+t.rows()); i++ {
		cells := make([]string, len(columns))
		for k, c := range columns {
			cells[k] = cell(c, c.cell(all[i]))
		}
		line := strings.Join(cells, " ")
		if i == t.cursor {
			line = chosenStyle.Render(line)
		}
		lines = append(lines, line)
	}
	for len(lines) <= t.rows() {
		lines = append(lines, "")
	}
	return lines
}

// arrow shows the direction of the order: down if the largest comes first.
func arrow(q admin.Query) string {
	if up := q.Sort == "pid" || q.Sort == "name"; up != q.Reverse {
		return "▲"
	}
	return "▼"
}

// cell formats a value for its column.
func cell(c topColumn, text string) string {
	text = ansi.Truncate(text, c.width, "…")
	pad := strings.Repeat(" ", c.width-lipgloss.Width(text))
	if c.right {
		return pad + text
	}
	return text + pad
}

// detailText formats the pane about a process.
func detailText(a detailMsg, at wire.Atom) string {
	if a.err != nil {
		return badStyle.Render(printable.Text(a.err.Error()))
	}
	var b strings.Builder
	s := &session{at: at}
	for _, f := range s.detailFields(a.detail)[1:] { // the PID is in the title
		if f[1] != "" {
			fmt.Fprintf(&b, "%s%s  %s\n", headStyle.Render(f[0]), strings.Repeat(" ", len("Monitored by")-len(f[0])), f[1])
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
