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

// sendTime is how long a message may take: the manager may read none.
const sendTime = time.Second

// phase is what the manager believes the program to do.
type phase uint8

const (
	starting phase = iota
	ready
	stopping
)

// Service is this program, as the service manager sees it. The zero value has no manager.
type Service struct {
	log   *slog.Logger
	conn  net.Conn      // nil: no manager
	limit time.Duration // of the watchdog; 0: none

	mu    sync.Mutex // held while a message is sent, so that they come in the order of the phases
	phase phase
}

// New finds out from the variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID whether a manager waits for messages. Values
// that are of no use are logged, and then there is none: the program can do its work all the same.
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

// watchdog returns how long the program may be silent; 0: for ever.
func watchdog(lookup func(string) (string, bool)) (time.Duration, error) {
	text, _ := lookup("WATCHDOG_USEC")
	pid, _ := lookup("WATCHDOG_PID")
	if text == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) { // another process is meant
		return 0, nil
	}
	usec, err := strconv.ParseInt(text, 10, 64)
	const most = int64(1<<63-1) / int64(time.Microsecond)
	if err != nil || usec <= 0 || usec > most {
		return 0, fmt.Errorf("WATCHDOG_USEC is %q: want a number of microseconds from 1 to %d", text, most)
	}
	return time.Duration(usec) * time.Microsecond, nil
}

// Watched returns how long the manager lets the program be silent; 0: for ever.
func (s *Service) Watched() time.Duration { return s.limit }

// Ready says that the start is done. status is a line for people.
func (s *Service) Ready(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == starting {
		s.phase = ready
		s.send("READY=1", status)
	}
}

// Reload calls f, which reads the configuration again. If the start is done the manager is told when it begins and when it has
// ended.
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

// Stopping says that the program ends, within a time at most; the manager waits so long, even if its own limit is shorter.
func (s *Service) Stopping(status string, within time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != stopping {
		s.phase = stopping
		s.send("STOPPING=1\nEXTEND_TIMEOUT_USEC="+strconv.FormatInt(within.Microseconds(), 10), status)
	}
}

// Status shows people a line.
func (s *Service) Status(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send("", status)
}

// Feed tells the watchdog that the program is alive whenever alive returns no error, until ctx ends. alive has a quarter of the
// watchdog's time for its answer. What it returns is logged, once for each time that it begins to fail.
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

// ask finds out whether the program is alive; while it stops, it is.
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

// Close ends the connection to the manager. It is to be called last.
func (s *Service) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
}

// send sends a message and a status, "": none. mu is held.
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
