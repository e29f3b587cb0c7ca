package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
)

// Config of a queue.
type Config struct {
	Handlers    map[string]Handler
	Workers     int           // jobs that run at once
	Max         int           // jobs in memory, those that have ended included
	Tries       int           // of a job
	First, Last time.Duration // the shortest and the longest wait for another try
	Deadline    time.Duration // of jobs that have none
	Keep        time.Duration // how long a job that has ended can be asked for
}

// The names of the queue, and of the supervisor of what it runs.
const (
	queueName   node.Atom = "queue"
	workersName node.Atom = "workers"
)

// Start starts a queue with its supervisor. When the queue crashes, so do the jobs that it runs.
func Start(ctx context.Context, n *node.Node, c Config) (node.PID, error) {
	top, err := supervisor.Start(ctx, n, supervisor.Spec{
		Strategy:  supervisor.RestForOne,
		Intensity: 10, Period: time.Minute,
		Children: []supervisor.Child{{
			ID: queueName, Options: node.Options{Name: queueName},
			Start: func(...any) (node.Actor, error) {
				return queues.New(&queue{Config: c, jobs: make(map[string]*job)}), nil
			},
		}, tasks.Child(workersName, tasks.Options{})},
	}, node.Options{Name: "jobs"})
	if err != nil {
		return node.PID{}, fmt.Errorf("start the queue: %w", err)
	}
	return top, nil
}

// queue is the server. It does no job itself, so it always answers at once.
type queue struct {
	Config
	jobs    map[string]*job
	ready   []*job // waiting, or no longer so
	running int
	stops   bool
	drains  []node.From
}

var queues = genserver.Define(
	genserver.OnCall((*queue).submit),
	genserver.OnCall((*queue).show),
	genserver.OnCall((*queue).cancel),
	genserver.OnCall((*queue).dead),
	genserver.OnCall((*queue).revive),
	genserver.OnCall((*queue).drain),
	genserver.OnInfo((*queue).tried),
	genserver.OnInfo((*queue).again),
	genserver.OnInfo((*queue).expired),
	genserver.OnInfo((*queue).forget),
)

func (q *queue) submit(c *genserver.Context, s Submit) (Job, error) {
	switch {
	case q.Handlers[s.Kind] == nil:
		return Job{}, fmt.Errorf("%w: %q", errKind, s.Kind)
	case q.stops:
		return Job{}, errStops
	case len(q.jobs) >= q.Max:
		return Job{}, errFull
	}
	if s.Within <= 0 {
		s.Within = q.Deadline
	}
	j := &job{Job: Job{ID: rand.Text(), Kind: s.Kind, Input: s.Input}, within: s.Within}
	q.jobs[j.ID] = j
	return q.enter(c, j), nil
}

// enter begins a job that is new or revived.
func (q *queue) enter(c *genserver.Context, j *job) Job {
	j.Deadline = time.Now().Add(j.within)
	j.deadline, _ = c.SendAfter(j.within, c.Self(), expired{j.ID})
	q.wait(c, j)
	return j.Job
}

// wait gives a job to the next free worker.
func (q *queue) wait(c *genserver.Context, j *job) {
	j.Status = waiting
	q.ready = append(q.ready, j)
	q.work(c)
}

// work starts as many jobs as there are workers. A try runs in a process of its own: a panic ends only the try.
func (q *queue) work(c *genserver.Context) {
	for len(q.ready) > 0 && q.running < q.Workers && !q.stops {
		j := q.ready[0]
		q.ready = q.ready[1:]
		if j.Status != waiting {
			continue // cancelled meanwhile
		}
		j.Status = running
		j.Tries++
		q.running++
		handle, input, deadline := q.Handlers[j.Kind], j.Input, j.Deadline
		j.try = tasks.Go(c, workersName, func(p *node.Process) (any, error) {
			ctx, cancel := context.WithDeadline(p.Context(), deadline)
			defer cancel()
			return handle(ctx, input)
		})
		j.try.SendTo(c.Self(), try{j, j.try}) // see tried
	}
}

// tried gets the outcome of a try.
func (q *queue) tried(c *genserver.Context, r node.Result) error {
	t := r.Tag.(try)
	j := t.of
	q.running--
	switch {
	case j.Status != running || j.try != t.result: // it has been ended before
	case r.Err == nil:
		j.Result, j.Error = r.Value, ""
		q.end(c, j, done)
	case j.Tries >= q.Tries || errors.Is(r.Err, ErrGiveUp):
		j.Error = r.Err.Error()
		q.end(c, j, dead)
	default:
		j.Error = r.Err.Error()
		j.Status = retrying
		j.next, _ = c.SendAfter(q.backoff(j.Tries), c.Self(), again{j.ID})
	}
	q.work(c)
	q.drained()
	return nil
}

func (q *queue) again(c *genserver.Context, m again) error {
	if j := q.jobs[m.id]; j != nil && j.Status == retrying {
		q.wait(c, j)
	}
	return nil
}

func (q *queue) expired(c *genserver.Context, m expired) error {
	if j := q.jobs[m.id]; j != nil && !j.ended() {
		j.Error = strings.TrimPrefix(j.Error+"; the deadline is over", "; ")
		q.end(c, j, dead)
	}
	return nil
}

func (q *queue) cancel(c *genserver.Context, r Cancel) (Job, error) {
	j := q.jobs[r.ID]
	switch {
	case j == nil:
		return Job{}, errNoJob
	case j.ended():
		return j.Job, errEnded
	}
	q.end(c, j, cancelled)
	return j.Job, nil
}

// end ends a job. A try that runs is told by its context, and its outcome comes to tried, which has a free worker then.
func (q *queue) end(c *genserver.Context, j *job, status string) {
	if j.Status == running {
		j.try.Cancel()
	}
	if j.Status == retrying {
		j.next.Cancel()
	}
	j.deadline.Cancel()
	j.Status = status
	j.next, _ = c.SendAfter(q.Keep, c.Self(), forget{j.ID})
}

func (q *queue) forget(_ *genserver.Context, m forget) error {
	if j := q.jobs[m.id]; j != nil && j.ended() {
		delete(q.jobs, m.id)
	}
	return nil
}

func (q *queue) show(_ *genserver.Context, r Show) (Job, error) {
	if j := q.jobs[r.ID]; j != nil {
		return j.Job, nil
	}
	return Job{}, errNoJob
}

func (q *queue) dead(*genserver.Context, Dead) ([]Job, error) {
	all := []Job{}
	for _, j := range q.jobs {
		if j.Status == dead {
			all = append(all, j.Job)
		}
	}
	slices.SortFunc(all, func(a, b Job) int { return a.Deadline.Compare(b.Deadline) })
	return all, nil
}

func (q *queue) revive(c *genserver.Context, r Revive) (Job, error) {
	j := q.jobs[r.ID]
	switch {
	case j == nil:
		return Job{}, errNoJob
	case j.Status != dead:
		return j.Job, errNotDead
	}
	j.next.Cancel()
	j.Tries = 0
	return q.enter(c, j), nil
}

func (q *queue) drain(c *genserver.Context, _ Drain) (int, error) {
	q.stops = true
	q.drains = append(q.drains, c.From())
	q.drained()
	return 0, genserver.ErrReplyLater
}

// drained answers those who wait for the last job that runs.
func (q *queue) drained() {
	if q.running > 0 {
		return
	}
	lost := 0
	for _, j := range q.jobs {
		if !j.ended() {
			lost++
		}
	}
	for _, from := range q.drains {
		from.Reply(lost)
	}
	q.drains = nil
}
