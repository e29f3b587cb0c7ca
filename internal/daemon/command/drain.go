package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
)

// drain prepares the node for its stop, once; later callers wait for the first:
//
//  1. it stops being ready, so that it gets no new work;
//  2. its processes leave their groups, so that other nodes drop them;
//  3. it refuses requests of other nodes to start or call functions by name;
//  4. it stops its applications in the reverse order of their start.
//
// All steps together take at most drain_timeout. Processes still running then are killed when the node stops. Connections
// stay open, so that replies still reach their callers.
func (d *daemon) drain(ctx context.Context) error {
	d.drainOnce.Do(func() {
		began, timeout := time.Now(), d.live.Load().DrainTimeout
		d.log.Info("draining", "within", timeout.String())
		d.draining.Store(true)
		d.manager.Status("draining")
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		left := 0
		if scope := d.scope.Load(); scope != nil {
			var err error
			if left, err = scope.LeaveAll(ctx, d.n); err != nil {
				d.drainErr = fmt.Errorf("cannot leave process groups: %w", err)
			}
		}
		d.n.Drain()
		d.drainErr = errors.Join(d.drainErr, d.stopApplications(ctx, timeout))
		if d.drainErr != nil {
			d.log.Error("draining failed", "after", time.Since(began).String(), "error", d.drainErr)
			d.manager.Status("draining failed: see the log")
			return
		}
		d.manager.Status("drained")
		d.log.Info("drained", "after", time.Since(began).String(), "left_groups", left)
	})
	return d.drainErr
}

func (d *daemon) stopApplications(ctx context.Context, timeout time.Duration) error {
	if d.apps == nil {
		return nil
	}
	select {
	case <-d.apps.Done(): // all are stopped
		return nil
	default:
	}
	if err := d.apps.StopAll(ctx); err != nil {
		return fmt.Errorf("applications did not stop within %v: %w", timeout, err)
	}
	return nil
}

// httpTime bounds HTTP responses in progress after everything else has stopped.
const httpTime = time.Second

// down stops everything that startNode and up have started, in order, and waits for it.
func (d *daemon) down(ctx context.Context) error {
	var err error
	if d.n.Err() == nil { // otherwise it is already stopping
		err = d.drain(ctx)
	}
	d.halt()
	d.endJoins()
	d.joining.Wait()
	if http := d.http.Load(); http != nil {
		ctx, cancel := context.WithTimeout(ctx, httpTime)
		defer cancel()
		if slow := http.Stop(ctx); slow != nil {
			d.log.Warn("some HTTP requests did not finish before the stop", "error", slow)
		}
	}
	stopped := d.n.Stop()
	if failed := new(process.ServiceError); errors.As(stopped, &failed) {
		return stopped
	}
	if err = errors.Join(err, stopped); err != nil {
		return fmt.Errorf("the stop was not orderly: %w", err)
	}
	return nil
}
