package command

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// fakeNode answers requests with what a test has put in, and records them.
type fakeNode struct {
	sum     admin.Summary
	list    []admin.Process
	err     error
	queries []admin.Query
	now     time.Time
}

var fakeOrigin = wire.NewOrigin(wire.NodeID{Name: "go@host", Creation: 1<<32 - 1})

func newFakeNode(processes int) *fakeNode {
	f := &fakeNode{now: time.Date(2026, 11, 21, 12, 30, 5, 0, time.UTC)}
	f.sum = admin.Summary{Node: "go@host", Ready: true, Uptime: 50 * time.Hour, Processes: processes, Names: 7, Handled: 1234567,
		Goroutines: 21, RunQueue: 3, DeadLetters: map[node.Atom]uint64{"no_process": 12, "mailbox_full": 1},
		Memory: admin.Memory{Total: 345 << 20, Objects: 123 << 20},
		Peers: []admin.Peer{{Name: "a@host", State: "up", Held: true}, {Name: "b@host", State: "up"},
			{Name: "c@host", State: "connecting"}}}
	for i := range processes {
		p := admin.Process{PID: fakeOrigin.PID(uint64(i) * 100), Behaviour: "*shop.cart", State: "waiting", Mailbox: 10 * i,
			Handled: uint64(i) * 1000,
			Memory:  1 << i, Age: time.Duration(i) * time.Hour, Links: i}
		switch i % 3 {
		case 0:
			p.Name = node.Atom(fmt.Sprintf("a_name_that_is_longer_than_its_column_%d", i))
		case 1:
			p.Label, p.State = "einkaufswagen für 你好", "running"
		}
		f.list = append(f.list, p)
	}
	return f
}

func (f *fakeNode) sample(turn int, q admin.Query) sampleMsg {
	f.queries = append(f.queries, q)
	f.now = f.now.Add(time.Second)
	list := append([]admin.Process(nil), f.list...)
	return sampleMsg{turn: turn, at: f.now, sum: f.sum, list: admin.Listing{Processes: list, Matched: len(list) + 5, Total: 1000},
		err: f.err}
}

func (f *fakeNode) details(pid wire.PID) detailMsg {
	return detailMsg{pid, admin.Detail{Process: f.list[pid.Number()/100], Started: admin.Time{Time: f.now},
		Messages: []any{wire.Atom("one"), wire.Tuple{wire.Atom("two"), 2}}}, f.err}
}

// driver runs a model without a program: it passes the result of each command to the model at once, except for ticks,
// which tick delivers.
type driver struct {
	t     *testing.T
	m     top
	ticks int
}

func drive(t *testing.T, f *fakeNode, width, height int) *driver {
	d := &driver{t: t, m: newTop(f, admin.Query{Sort: "mailbox", Limit: topRows}, 20*time.Millisecond)}
	d.say(tea.WindowSizeMsg{Width: width, Height: height})
	d.run(d.m.Init())
	return d
}

func (d *driver) say(msg tea.Msg) {
	m, cmd := d.m.Update(msg)
	d.m = m.(top)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case refreshMsg:
		if d.ticks++; msg.turn == 0 && d.ticks == 1 { // the first
			d.say(msg)
		}
	case sampleMsg, detailMsg, tea.QuitMsg:
		d.say(msg)
	}
}

// tick lets the model refresh.
func (d *driver) tick() { d.say(refreshMsg{d.m.turn}) }

func (d *driver) press(keys ...string) {
	for _, k := range keys {
		switch k {
		case "enter":
			d.say(tea.KeyPressMsg{Code: tea.KeyEnter})
		case "esc":
			d.say(tea.KeyPressMsg{Code: tea.KeyEscape})
		case "down":
			d.say(tea.KeyPressMsg{Code: tea.KeyDown})
		case "pgdown":
			d.say(tea.KeyPressMsg{Code: tea.KeyPgDown})
		default:
			d.say(tea.KeyPressMsg{Code: []rune(k)[0], Text: k})
		}
	}
}

// view returns the screen, without colours and without spaces at the ends of lines.
func (d *driver) view() string {
	return regexp.MustCompile(` +\n`).ReplaceAllString(ansi.Strip(d.m.View().Content)+"\n", "\n")
}

func TestTopScreens(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {40, 10}, {120, 12}} {
		d := drive(t, newFakeNode(25), size.width, size.height)
		d.press("down", "down")
		golden(t, fmt.Sprintf("testdata/top/screen_%dx%d.txt", size.width, size.height), d.view())
		d.press("enter")
		golden(t, fmt.Sprintf("testdata/top/about_%dx%d.txt", size.width, size.height), d.view())
	}
	d := drive(t, newFakeNode(25), 3, 2) // too small to be useful, but it must not panic
	d.press("pgdown", "?", "enter")
	assert.NotEmpty(t, d.view())
}

func TestTopFollowsAProcess(t *testing.T) {
	f := newFakeNode(5)
	d := drive(t, f, 80, 24)
	d.press("down", "down")
	assert.Equal(t, f.list[2].PID, d.m.chosen)
	f.list[2], f.list[4] = f.list[4], f.list[2]
	d.tick()
	assert.Equal(t, 4, d.m.cursor, "the cursor stays on the process, not on the row")
	f.list = f.list[:2]
	d.tick()
	assert.Equal(t, 1, d.m.cursor)
	f.list = nil
	d.tick()
	d.press("down", "enter", "G", "g")
	assert.Equal(t, 0, d.m.cursor)
	assert.Equal(t, modeList, d.m.mode)
}

func TestTopScrolls(t *testing.T) {
	d := drive(t, newFakeNode(25), 80, 12)
	rows := d.m.rows()
	d.press("G")
	assert.Equal(t, 24, d.m.cursor)
	assert.Equal(t, 25-rows, d.m.first)
	d.press("k")
	assert.Equal(t, 25-rows, d.m.first)
	d.press("g")
	assert.Equal(t, 0, d.m.first)
	d.press("pgdown")
	assert.Equal(t, rows, d.m.cursor)
	d.say(tea.WindowSizeMsg{Width: 80, Height: 40})
	assert.Equal(t, 0, d.m.first, "there is room for all")
}

func TestTopMeasuresRates(t *testing.T) {
	f := newFakeNode(3)
	d := drive(t, f, 80, 24)
	f.list[1].Handled += 250
	d.tick() // a second later, by the fake node's clock
	assert.Equal(t, []float64{0, 250, 0}, []float64{d.m.now.list.Processes[0].Rate, d.m.now.list.Processes[1].Rate,
		d.m.now.list.Processes[2].Rate})
	d.press("s", "s")
	assert.EqualValues(t, "rate", f.queries[len(f.queries)-1].Sort)
	assert.Zero(t, f.queries[len(f.queries)-1].Window, "what is asked for a key is not measured first")
	d.tick()
	assert.Equal(t, 20*time.Millisecond, f.queries[len(f.queries)-1].Window)
}

func TestTopAsksNoMoreThanItMust(t *testing.T) {
	f := newFakeNode(3)
	m := newTop(f, admin.Query{Sort: "mailbox"}, time.Second)
	var cmds []tea.Cmd
	for range 10 { // there is no answer
		next, cmd := m.Update(tea.KeyPressMsg{Code: 's', Text: "s"})
		if m = next.(top); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	require.Len(t, cmds, maxAsked)
	next, cmd := m.Update(cmds[0]())
	m = next.(top)
	assert.True(t, m.now.at.IsZero(), "an answer to an old question is not shown")
	v := cmd().(sampleMsg)
	assert.Equal(t, m.turn, v.turn)
	assert.Equal(t, m.query.Sort, f.queries[len(f.queries)-1].Sort)
	next, _ = m.Update(v)
	m = next.(top)
	assert.False(t, m.now.at.IsZero())
}

func TestTopFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where the cursor blinks
		f := newFakeNode(3)
		d := drive(t, f, 80, 24)
		d.press("/", "c", "a", "q")
		assert.Equal(t, "caq", f.queries[len(f.queries)-1].Text)
		assert.Contains(t, d.view(), "filter: caq")
		d.press("enter")
		assert.Contains(t, d.view(), `with "caq"`)
		d.press("/", "esc")
		assert.Empty(t, f.queries[len(f.queries)-1].Text)
		assert.Equal(t, modeList, d.m.mode)
	})
}

func TestTopSaysWhatIsWrong(t *testing.T) {
	f := newFakeNode(3)
	d := drive(t, f, 80, 24)
	f.err = errors.New("the node is gone")
	d.tick()
	assert.Contains(t, d.view(), "the node is gone")
	assert.Contains(t, d.view(), "einkaufswagen", "what was seen last stays")
	d.press("enter")
	assert.Contains(t, d.view(), "the node is gone")
	f.err = nil
	d.tick()
	assert.Contains(t, d.view(), "Behaviour")
	d.press("esc", "p")
	asked := len(f.queries)
	d.tick()
	assert.Len(t, f.queries, asked, "it is paused")
	d.press("p")
	assert.Len(t, f.queries, asked+1)
}
