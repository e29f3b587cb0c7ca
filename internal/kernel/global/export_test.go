package global

import "fmt"

// Dump returns the state of a machine, for the message of a failing test.
func (m *Machine) Dump() string {
	l := &m.locker
	text := fmt.Sprintf("%s: known %v, pending %v, connected %v, asked %d, joins %d", m.cfg.Self, m.Known(), m.pending, m.connected,
		len(m.asked), len(m.joins))
	text += fmt.Sprintf("; locker: known %v, local %v, remote %v, inbox %v, busy %v, waits %v", l.known, l.local, l.remote, l.inbox,
		l.busy, l.wants != nil)
	for r, l := range m.locks.all.All() {
		text += fmt.Sprintf("; lock %v of %v by %v", r, l.(*lock).requester, l.(*lock).holders)
	}
	for n, s := range m.sessions {
		text += fmt.Sprintf("; session %v: %+v", n, *s)
	}
	return text + "\n"
}
