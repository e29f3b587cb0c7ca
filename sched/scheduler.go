package sched

// Runnable is an actor, as seen by a user's scheduler.
type Runnable interface {
	// Run does a bounded amount of work and reports whether there is more to do. It must not be called concurrently. After
	// it returns false, it must not be called until the actor is scheduled again.
	Run() (again bool)
}

// Scheduler runs actors instead of the stages: the event loop of a user interface, one operating-system thread, a test that
// steps. Any goroutine may call Schedule. Schedule must not block, and must not call Run before it returns. Each call
// requests runs until Run returns false.
type Scheduler interface{ Schedule(Runnable) }
