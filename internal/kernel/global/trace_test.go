package global_test

import (
	"fmt"
	"os"
)

// trace notes an event for the message of a failing test, if TRACE=1 is in the environment.
func (s *sim) trace(format string, args ...any) {
	if os.Getenv("TRACE") != "" {
		s.logs = append(s.logs, fmt.Sprintf("\n%d %v ", s.steps, s.now)+fmt.Sprintf(format, args...))
	}
}
