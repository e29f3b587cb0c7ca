package sched

// Runnable is an actor as a scheduler of the user's own sees it.
type Runnable interface {
	// Run does a bounded amount of work and answers whether there is more to do.
	// It must not be called twice at the same time; after false it must not be
	// called until the actor is scheduled again.
	Run() (again bool)
}

// Scheduler runs actors in place of the stages: an event loop of a user
// interface, one thread of the operating system, a test that steps. Schedule
// may be called by any goroutine, must not block and must not call Run itself
// before it returns; each call asks for runs until Run answers false.
type Scheduler interface{ Schedule(Runnable) }
