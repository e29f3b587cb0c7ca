package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
)

func stackCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "stack PROCESS", Short: "Show where the code of a process is", Args: cobra.ExactArgs(1),
		Long: "Shows the Go stack of a process: where a handler is that takes long, or where the function of a process waits. The\n" +
			"innermost call comes first; arguments are not shown. An Actor has a stack only while it handles a message.\n" +
			"The program stands still for a moment. The node logs the request, and only its operators may make it.\n" +
			processRefHelp + "\n" + jsonHelp + "\n" + targetHelp,
		Example:           "  actornode stack counter\n  actornode stack 42.0.1z141z3",
		ValidArgsFunction: c.completeProcess(env, 0),
	}, func(ctx context.Context, s *session, args []string) error {
		w, t, err := onTarget(ctx, s, args[0], func(ctx context.Context, target any) (admin.Stack, error) {
			return admin.GoStack(ctx, s.n, s.at, target)
		})
		if err != nil {
			return missing(w, err)
		}
		if s.json {
			return s.writeJSON(t)
		}
		err = s.fields([][2]string{
			{"PID", s.shown(t.PID)}, {"Name", string(t.Name)}, {"Label", t.Label}, {"Behaviour", t.Behaviour},
			{"State", stateStyled(t.State)}, {"Waits for", detailedWait(t.Wait, s.at)}, {"Goroutine", t.Goroutine},
			{"No stack", t.Note},
		})
		if err != nil || len(t.Frames) == 0 {
			return err
		}
		_, err = fmt.Fprint(s.screen(), "\n"+framesText(t.Frames))
		return err
	})
}

// framesText has two lines for each call: the function, and its file and line.
func framesText(frames []admin.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s\n  %s\n", f.Function, faintStyle.Render(f.At))
	}
	return b.String()
}
