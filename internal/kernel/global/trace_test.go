package global_test

import (
	"fmt"
	"os"
)

// trace notes what happens for the message of a failing test, if the environment says TRACE=1.
func (s *sim) trace(format string, args ...any) {
	if os.Getenv("TRACE") != "" {
		s.logs = append(s.logs, fmt.Sprintf("\n%d %v ", s.steps, s.now)+fmt.Sprintf(format, args...))
	}
}
