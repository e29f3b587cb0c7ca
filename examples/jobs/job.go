package main

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// Handler does the jobs of a kind. Its context ends at the deadline of the job, and when the job is cancelled.
type Handler func(ctx context.Context, input json.RawMessage) (any, error)

var (
	// ErrGiveUp is in the error of a handler if another try is of no use.
	ErrGiveUp  = errors.New("give up")
	errKind    = errors.New("there is no such kind of job")
	errNoJob   = errors.New("there is no such job")
	errFull    = errors.New("there are too many jobs")
	errEnded   = errors.New("the job has ended")
	errNotDead = errors.New("the job is not dead")
	errStops   = errors.New("the queue stops")
)

// What a job can be.
const (
	waiting   = "waiting" // for a worker
	running   = "running"
	retrying  = "retrying" // waits for its next try
	done      = "done"
	dead      = "dead" // all tries have failed, or the deadline is over
	cancelled = "cancelled"
)

// Job is what the queue tells of a job.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Input    json.RawMessage `json:"input,omitempty"`
	Status   string          `json:"status"`
	Tries    int             `json:"tries"`
	Deadline time.Time       `json:"deadline"`
	Result   any             `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"` // of the last try
}

// Requests to the queue.
type (
	// Submit adds a job.
	Submit struct {
		genserver.Returns[Job]
		Kind   string
		Input  json.RawMessage
		Within time.Duration // the deadline; 0: that of Config
	}
	// Show returns a job.
	Show struct {
		genserver.Returns[Job]
		ID string
	}
	// Cancel ends a job that has not ended.
	Cancel struct {
		genserver.Returns[Job]
		ID string
	}
	// Dead returns the dead jobs.
	Dead struct{ genserver.Returns[[]Job] }
	// Revive tries a dead job again, as if it were new.
	Revive struct {
		genserver.Returns[Job]
		ID string
	}
	// Drain starts no job any more, and returns when none runs: the number of those that have not ended.
	Drain struct{ genserver.Returns[int] }
)

// Messages of the queue to itself.
type (
	again   struct{ id string } // the next try is due
	expired struct{ id string } // the deadline is over
	forget  struct{ id string } // has ended long ago
)

// try is the tag of an outcome.
type try struct {
	of     *job
	result *node.Future[any]
}

// job is a job as the queue has it.
type job struct {
	Job
	within   time.Duration
	try      *node.Future[any] // that runs
	next     *node.Timer       // for again or forget
	deadline *node.Timer       // for expired
}

func (j *job) ended() bool { return j.Status == done || j.Status == dead || j.Status == cancelled }

// backoff is how long a job waits after a number of tries: up to twice as long each time. Jobs that have failed together are
// not tried together again, because half of it is random.
func (c *Config) backoff(tries int) time.Duration {
	d := c.Last
	if tries < 32 {
		d = min(c.First<<(tries-1), c.Last)
	}
	return d/2 + rand.N(d/2+1)
}
