package sched

// Stats is a snapshot of the activity of a node's stages.
type Stats struct {
	Workers       int    // maximum number of goroutines that run stages concurrently
	Active        int    // workers that hold a stage or are looking for one
	Stages        int    // total number of stages
	Waiting       int    // stages with work that no worker holds
	DetachedTurns int    // handlers that continue without their stage because they block or take long
	Shared        uint64 // number of times that a busy stage gave half of its run queue to an idle one
	Blocked       uint64 // turns that took longer than the limit for handlers

	// Goroutines is the number of the pool's goroutines: workers, including waiting ones, and the watcher. Up to sixteen
	// more than Workers are kept for handlers that block.
	Goroutines int
}
