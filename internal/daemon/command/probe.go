package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const probeHelp = `Asks a daemon whether it is ready, or with --live whether it is alive: a health check for
containers that hold nothing but this program. The address is that of --http, else of
ACTORNODE_HTTP_LISTEN, or of the file in ACTORNODE_CONFIG.

Exit status: 0 if it is, 1 if it is not or does not answer, 2 for a wrong command line.`

func probeCommand(env environment, status *exit) *cobra.Command {
	given := make(map[string][]string)
	live, timeout := false, 3*time.Second
	c := &cobra.Command{
		Use: "probe", Short: "Ask a daemon whether it is ready", Long: probeHelp,
		Example: "  actornode probe --http 127.0.0.1:9100",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			*status = exitFailed
			env := env
			if _, there := given["http"]; there || env.get("ACTORNODE_HTTP_LISTEN") != "" {
				env = env.withoutFile() // its settings are not needed here
			}
			cfg, err := load("", given, env, env.program.Sections)
			if err != nil {
				return err
			}
			if cfg.HTTP.Listen == "" {
				return fail(exitUsage, nil, "the address is missing: want --http PORT or HOST:PORT, or ACTORNODE_HTTP_LISTEN")
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			path := "/readyz"
			if live {
				path = "/livez"
			}
			return probe(ctx, env.stdout, cfg.HTTP.Listen, path)
		},
	}
	f := c.Flags()
	f.StringArrayVar(new([]string), "http", nil, "HTTP address of the daemon")
	f.BoolVar(&live, "live", false, "ask whether the daemon is alive, not whether it is ready")
	f.DurationVar(&timeout, "timeout", timeout, "how long to wait for the answer")
	c.PreRun = func(c *cobra.Command, _ []string) {
		if l, _ := f.GetStringArray("http"); len(l) > 0 {
			given["http"] = l
		}
	}
	return c
}

// maxAnswer bounds the size of a response.
const maxAnswer = 64 << 10

func probe(ctx context.Context, out io.Writer, listen, path string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fail(exitFailed, err, "")
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() { // all addresses, including the loopback
		host = "127.0.0.1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return fail(exitFailed, err, "")
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail(exitFailed, err, "the daemon did not answer")
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return fail(exitFailed, err, "the daemon did not answer")
	}
	text := strings.TrimSpace(string(body))
	if r.StatusCode != http.StatusOK {
		return fail(exitFailed, nil, "%s", text)
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
