package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sendTime bounds the sending of a message: the manager may not be reading.
const sendTime = time.Second

// phase is the state of the program as known to the manager.
type phase uint8

const (
	starting phase = iota
	ready
	stopping
)

// Service is this program, as the service manager sees it. The zero value has no manager.
type Service struct {
	log   *slog.Logger
	conn  net.Conn      // nil without a manager
	limit time.Duration // of the watchdog; 0 if none

	mu    sync.Mutex // held while a message is sent, so that messages follow the order of the phases
	phase phase
}

// New reads the variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. It logs unusable values and then assumes that
// there is no manager: the program can run without one.
func New(lookup func(string) (string, bool), log *slog.Logger) *Service {
	s := &Service{log: log}
	socket, _ := lookup("NOTIFY_SOCKET")
	if socket == "" {
		return s
	}
	var err error
	if socket[0] != '/' && socket[0] != '@' {
		err = errors.New("want an absolute path, or @NAME")
	} else {
		s.conn, err = net.Dial("unixgram", socket)
	}
	if err != nil {
		log.Warn("cannot tell the service manager anything", "NOTIFY_SOCKET", socket, "error", err)
		return s
	}
	if s.limit, err = watchdog(lookup); err != nil {
		log.Warn("there is no watchdog", "error", err)
	}
	return s
}

// watchdog returns the interval of the watchdog, or 0 if there is none.
func watchdog(lookup func(string) (string, bool)) (time.Duration, error) {
	text, _ := lookup("WATCHDOG_USEC")
	pid, _ := lookup("WATCHDOG_PID")
	if text == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) { // not for this process
		return 0, nil
	}
	usec, err := strconv.ParseInt(text, 10, 64)
	const most = int64(1<<63-1) / int64(time.Microsecond)
	if err != nil || usec <= 0 || usec > most {
		return 0, fmt.Errorf("WATCHDOG_USEC is %q: want a number of microseconds from 1 to %d", text, most)
	}
	return time.Duration(usec) * time.Microsecond, nil
}

// Watched returns the interval of the watchdog, or 0 if there is none.
func (s *Service) Watched() time.Duration { return s.limit }

// Ready reports that the program has started. status is a line for people.
func (s *Service) Ready(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == starting {
		s.phase = ready
		s.send("READY=1", status)
	}
}

// Reload calls f, which reads the configuration again. After Ready it reports the start and the end of f to the manager.
func (s *Service) Reload(f func()) {
	s.mu.Lock()
	was := s.phase
	if was == ready {
		message := "RELOADING=1"
		if now := monotonic(); now > 0 {
			message += "\nMONOTONIC_USEC=" + strconv.FormatInt(now.Microseconds(), 10)
		}
		s.send(message, "")
	}
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	if was == ready && s.phase == ready {
		s.send("READY=1", "")
	}
}

// Stopping reports that the program ends within the given time; the manager waits that long, even if its own limit is
// shorter.
func (s *Service) Stopping(status string, within time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != stopping {
		s.phase = stopping
		s.send("STOPPING=1\nEXTEND_TIMEOUT_USEC="+strconv.FormatInt(within.Microseconds(), 10), status)
	}
}

// Status reports a line for people.
func (s *Service) Status(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send("", status)
}

// Feed reports to the watchdog that the program is alive whenever alive returns nil, until ctx ends. alive has a quarter of
// the watchdog's interval. Its error is logged once each time it starts to fail.
func (s *Service) Feed(ctx context.Context, alive func(context.Context) error) {
	if s.limit == 0 {
		return
	}
	tick := time.NewTicker(max(s.limit/2, 1))
	defer tick.Stop()
	for failing := false; ; {
		err := s.ask(ctx, alive)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			s.mu.Lock()
			s.send("WATCHDOG=1", "")
			s.mu.Unlock()
		case !failing:
			s.log.Error("the node does not answer: the watchdog of the service manager will end the program", "within",
				s.limit.String(), "error", err)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ask reports whether the program is alive; while it stops, it counts as alive.
func (s *Service) ask(ctx context.Context, alive func(context.Context) error) error {
	s.mu.Lock()
	now := s.phase
	s.mu.Unlock()
	if now == stopping {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(s.limit/4, 1))
	defer cancel()
	return alive(ctx)
}

// Close closes the connection to the manager. It must be called last.
func (s *Service) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
}

// send sends a message and a status, unless that is "". mu is held.
func (s *Service) send(message, status string) {
	if s.conn == nil {
		return
	}
	if status != "" {
		message = strings.TrimPrefix(message+"\nSTATUS="+strings.ReplaceAll(status, "\n", " "), "\n")
	}
	err := s.conn.SetWriteDeadline(time.Now().Add(sendTime))
	if err == nil {
		_, err = s.conn.Write([]byte(message))
	}
	if err != nil {
		s.log.Warn("cannot tell the service manager something", "message", message, "error", err)
	}
}
