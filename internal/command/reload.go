package command

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/actornode/actornode/internal/daemon/config"
)

// readConfig reads the configuration again, and the program's sections into the structs that these lead to.
type readConfig func(sections map[string]any) (*config.Config, error)

// reloadOnHangup reloads at each SIGHUP until ctx ends.
func (d *daemon) reloadOnHangup(ctx context.Context, read readConfig) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() { // until ctx ends; the daemon lives longer, and a hangup does not end it
		for {
			select {
			case <-hangups:
				d.reload(read)
			case <-ctx.Done():
				return
			}
		}
	}()
}

// changeable are the settings that a running daemon can change.
var changeable = []string{"allow", "cookies", "log.level", "operators"}

// reload opens the log anew and takes over what can change from the configuration. One with errors changes
// nothing. It is called by one goroutine.
func (d *daemon) reload(read readConfig) {
	if err := d.log.reopen(); err != nil {
		d.log.Error("cannot open the log file anew: the log goes on in the old one", "file", d.log.file, "error", err)
	}
	sections := copies(d.env.program.Sections)
	fresh, err := read(sections)
	if err != nil {
		d.log.Error("the configuration has errors: the old one stays as it is", "error", err)
		return
	}
	old := d.live.Load()
	var changed, waiting []string
	for _, key := range old.Differences(fresh) {
		switch {
		case !slices.Contains(changeable, key):
			waiting = append(waiting, key)
		case key == "operators" && fresh.Operators.Off != old.Operators.Off: // the service runs, or does not
			fresh.Operators, waiting = old.Operators, append(waiting, key)
		case key == "allow" && fresh.Allow.All != old.Allow.All: // the node asks for the peer, or does not
			fresh.Allow, waiting = old.Allow, append(waiting, key)
		default:
			changed = append(changed, key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if !reflect.DeepEqual(sections[name], d.env.program.Sections[name]) {
			waiting = append(waiting, name)
		}
	}
	if slices.Contains(changed, "log.level") {
		d.log.level.Set(fresh.Log.Level)
	}
	now := old.WithRights(fresh)
	now.Log.Level = fresh.Log.Level
	d.live.Store(now)
	if len(waiting) > 0 {
		d.log.Warn("some settings differ from those that the daemon runs by: they need a restart",
			"settings", strings.Join(waiting, " "))
	}
	d.log.Info("the configuration was read again", "changed", strings.Join(changed, " "))
}

// copies returns structs of the same types with the values that the old ones have.
func copies(sections map[string]any) map[string]any {
	all := make(map[string]any)
	for name, s := range sections {
		c := reflect.New(reflect.TypeOf(s).Elem())
		c.Elem().Set(reflect.ValueOf(s).Elem())
		all[name] = c.Interface()
	}
	return all
}
