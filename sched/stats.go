package sched

// Stats is what the stages of a node are doing, as of one moment.
type Stats struct {
	Workers       int    // goroutines that may run stages at a time
	Active        int    // workers that hold a stage, or look for one
	Stages        int    // all
	Waiting       int    // stages with work that no worker holds
	DetachedTurns int    // handlers that go on without their stage: they block, or take long
	Shared        uint64 // times that a busy stage has given half of its run queue to an idle one
	Blocked       uint64 // turns that have run longer than the bound for handlers

	// Goroutines are those of the pool: workers, those that wait included, and the one
	// that watches them. Up to sixteen more than Workers stay for handlers that block.
	Goroutines int
}
