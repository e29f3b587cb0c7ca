package command

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// sampleSource provides samples: a sampler, or a fake in tests.
type sampleSource interface {
	sample(turn int, q admin.Query) sampleMsg
	details(pid wire.PID) detailMsg
}

// top is the state of the screen. Update handles its events: keys, and the answers of the node.
//
//	list ── / ──▶ filter ── enter, esc ──▶ list
//	list ── enter ──▶ info ── esc, enter ──▶ list
type top struct {
	ask   sampleSource
	every time.Duration
	keys  topKeys
	help  help.Model

	query  admin.Query
	turn   int  // of the last request: answers to older ones are ignored
	asked  int  // requests without an answer yet
	due    bool // a request waits for one of them: many keys lead to few requests
	paused bool

	mode   topMode
	filter textinput.Model
	info   viewport.Model
	shown  detailMsg // shown by info

	now, before sampleMsg // the last two answers; the zero value is none
	failed      error
	cursor      int      // row of the listing
	chosen      wire.PID // process of that row: the cursor follows it
	first       int      // row at the top of the screen
	width       int
	height      int
}

type topMode uint8

const (
	modeList topMode = iota
	modeFilter
	modeInfo
)

// topKeys are the keys of the list.
type topKeys struct {
	up, down, pageUp, pageDown, home, end, sort, sortBack, reverse, filter, info, pause, help, quit key.Binding
}

func newTopKeys() topKeys {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	return topKeys{
		up: bind("↑/k", "up", "up", "k"), down: bind("↓/j", "down", "down", "j"),
		pageUp: bind("pgup", "page up", "pgup"), pageDown: bind("pgdn", "page down", "pgdown", "space"),
		home: bind("g", "first", "home", "g"), end: bind("G", "last", "end", "G"),
		sort: bind("s", "sort", "s"), sortBack: bind("S", "sort back", "S"), reverse: bind("r", "reverse", "r"),
		filter: bind("/", "filter", "/"), info: bind("enter", "info", "enter"), pause: bind("p", "pause", "p"),
		help: bind("?", "help", "?"), quit: bind("q", "quit", "q", "ctrl+c"),
	}
}

// ShortHelp is part of help.KeyMap.
func (k topKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.sort, k.reverse, k.filter, k.info, k.pause, k.quit, k.help}
}

// FullHelp is part of help.KeyMap.
func (k topKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{{k.up, k.down, k.home, k.end}, {k.pageUp, k.pageDown, k.sort, k.sortBack},
		{k.reverse, k.filter, k.info, k.pause}, {k.help, k.quit}}
}

func newTop(a sampleSource, q admin.Query, every time.Duration) top {
	t := top{ask: a, every: every, keys: newTopKeys(), help: help.New(), query: q, filter: textinput.New(), info: viewport.New(),
		width: 80, height: 24}
	t.filter.Prompt = "filter: "
	t.filter.CharLimit = 100
	t.filter.SetVirtualCursor(true)
	return t
}

// refreshMsg requests a new sample, unless its turn is outdated.
type refreshMsg struct{ turn int }

// maxAsked bounds the requests in progress: one may take as long as a rate is measured, and the next should not wait for
// it.
const maxAsked = 2

// Init is part of tea.Model.
func (t top) Init() tea.Cmd { return func() tea.Msg { return refreshMsg{} } }

// sampleNow asks the node; a rate is measured over window.
func (t *top) sampleNow(window time.Duration) tea.Cmd {
	if t.asked == maxAsked {
		t.due = true
		return nil
	}
	t.asked++
	t.due = false
	a, turn, q := t.ask, t.turn, t.query
	q.Window = window
	return func() tea.Msg { return a.sample(turn, q) }
}

// fresh sends a request at once, and outdates those in progress.
func (t *top) fresh() tea.Cmd {
	t.turn++
	return t.sampleNow(0)
}

// Update is part of tea.Model.
func (t top) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		t.width, t.height = m.Width, m.Height
		t.help.SetWidth(m.Width)
		t.info.SetWidth(m.Width)
		t.info.SetHeight(max(1, m.Height-headHeight-3))
		t.keepInSight()
		return t, nil
	case sampleMsg:
		return t.showSample(m)
	case detailMsg:
		if t.mode == modeInfo && m.pid == t.shown.pid {
			t.shown = m
			t.info.SetContent(detailText(m, t.now.sum.Node))
		}
		return t, nil
	case refreshMsg:
		if m.turn != t.turn || t.paused {
			return t, nil
		}
		window := t.window()
		if t.now.at.IsZero() {
			window = 0 // show something soon
		}
		cmd := t.sampleNow(window)
		if t.mode == modeInfo {
			cmd = tea.Batch(cmd, t.askAbout(t.shown.pid))
		}
		return t, cmd
	case tea.KeyPressMsg:
		switch t.mode {
		case modeFilter:
			return t.filterKey(m)
		case modeInfo:
			return t.infoKey(m)
		}
		return t.listKey(m)
	}
	return t, nil
}

// window is how long the node measures rates: only if it must, for sorting.
func (t top) window() time.Duration {
	if t.query.Sort == "rate" {
		return t.every
	}
	return 0
}

// showSample handles an answer and schedules the next request.
func (t top) showSample(v sampleMsg) (tea.Model, tea.Cmd) {
	t.asked--
	if t.due {
		return t, t.sampleNow(0)
	}
	if v.turn != t.turn {
		return t, nil
	}
	t.failed = v.err
	if v.err == nil {
		t.before, t.now = t.now, v
		t.measure()
		if i := slices.IndexFunc(v.list.Processes, func(p admin.Process) bool { return p.PID == t.chosen }); i >= 0 {
			t.cursor = i
		}
		t.keepInSight()
	}
	turn, pause := t.turn, t.every-t.window()
	return t, tea.Tick(max(pause, 10*time.Millisecond), func(time.Time) tea.Msg { return refreshMsg{turn} })
}

// measure computes the rates that the node has not measured, for processes that are also in the previous sample.
func (t *top) measure() {
	passed := t.now.at.Sub(t.before.at).Seconds()
	if t.before.at.IsZero() || passed <= 0 {
		return
	}
	was := make(map[wire.PID]uint64, len(t.before.list.Processes))
	for _, p := range t.before.list.Processes {
		was[p.PID] = p.Handled
	}
	for i := range t.now.list.Processes {
		p := &t.now.list.Processes[i]
		if h, ok := was[p.PID]; ok && p.Rate == 0 && p.Handled > h {
			p.Rate = float64(p.Handled-h) / passed
		}
	}
}

// keepInSight moves the cursor to an existing row, and scrolls to the cursor.
func (t *top) keepInSight() {
	all := t.now.list.Processes
	t.cursor = max(0, min(t.cursor, len(all)-1))
	if len(all) > 0 {
		t.chosen = all[t.cursor].PID
	}
	rows := t.rows()
	t.first = min(t.first, t.cursor, max(0, len(all)-rows))
	t.first = max(t.first, t.cursor-rows+1)
}

// move moves the cursor.
func (t *top) move(by int) {
	t.cursor += by
	t.keepInSight()
}

func (t top) listKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	is := func(b key.Binding) bool { return key.Matches(k, b) }
	switch {
	case is(t.keys.quit):
		return t, tea.Quit
	case is(t.keys.up):
		t.move(-1)
	case is(t.keys.down):
		t.move(1)
	case is(t.keys.pageUp):
		t.move(-t.rows())
	case is(t.keys.pageDown):
		t.move(t.rows())
	case is(t.keys.home):
		t.move(-topRows)
	case is(t.keys.end):
		t.move(topRows)
	case is(t.keys.sort):
		return t.sortBy(1)
	case is(t.keys.sortBack):
		return t.sortBy(-1)
	case is(t.keys.reverse):
		t.query.Reverse = !t.query.Reverse
		return t.toTop()
	case is(t.keys.pause):
		t.paused = !t.paused
		if !t.paused {
			return t, t.fresh()
		}
	case is(t.keys.help):
		t.help.ShowAll = !t.help.ShowAll
		t.keepInSight()
	case is(t.keys.filter):
		t.mode = modeFilter
		return t, t.filter.Focus()
	case is(t.keys.info) && len(t.now.list.Processes) > 0:
		t.mode, t.shown = modeInfo, detailMsg{pid: t.chosen}
		t.info.SetContent("…")
		t.info.GotoTop()
		return t, t.askAbout(t.chosen)
	}
	return t, nil
}

// sortBy switches to the next sort key.
func (t top) sortBy(step int) (tea.Model, tea.Cmd) {
	i := slices.Index(sorts, string(t.query.Sort))
	t.query.Sort = node.Atom(sorts[(i+step+len(sorts))%len(sorts)])
	t.query.Reverse = false
	return t.toTop()
}

// toTop scrolls to the first row after a change of order.
func (t top) toTop() (tea.Model, tea.Cmd) {
	t.cursor, t.first, t.chosen = 0, 0, wire.PID{}
	return t, t.fresh()
}

func (t top) askAbout(pid wire.PID) tea.Cmd {
	a := t.ask
	return func() tea.Msg { return a.details(pid) }
}

func (t top) filterKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch k.String() {
	case "ctrl+c":
		return t, tea.Quit
	case "enter", "esc":
		if k.String() == "esc" {
			t.filter.Reset()
		}
		t.filter.Blur()
		t.mode = modeList
	}
	var cmd tea.Cmd
	if t.mode == modeFilter {
		t.filter, cmd = t.filter.Update(k)
	}
	if text := t.filter.Value(); text != t.query.Text {
		t.query.Text = text
		next, ask := t.toTop()
		return next, tea.Batch(cmd, ask)
	}
	return t, cmd
}

func (t top) infoKey(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch k.String() {
	case "q", "ctrl+c":
		return t, tea.Quit
	case "esc", "enter":
		t.mode = modeList
		return t, nil
	}
	var cmd tea.Cmd
	t.info, cmd = t.info.Update(k)
	return t, cmd
}
