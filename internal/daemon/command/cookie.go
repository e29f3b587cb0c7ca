package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/regular"
)

// errNoCookie means that there is no cookie file.
var errNoCookie = errors.New("no cookie")

// findCookie finds the cookie in the order given in the help. It does not create one.
func (o options) findCookie(env environment) (string, error) {
	if o.cookie != "" {
		return o.cookie, nil
	}
	if c, ok := env.lookup("ACTORNODE_COOKIE"); ok && c != "" {
		return c, nil
	}
	if file := env.get("ACTORNODE_COOKIE_FILE"); file != "" {
		c, err := env.readCookie(file)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: ACTORNODE_COOKIE_FILE: the file %s does not exist", errNoCookie, file)
		}
		return c, err
	}
	file, err := cookieFile(env)
	if err != nil {
		return "", err
	}
	c, err := env.readCookie(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: neither --cookie nor ACTORNODE_COOKIE is set, and the file %s does not exist", errNoCookie, file)
	}
	return c, err
}

// cookieFile is the file of the user's cookie.
func cookieFile(env environment) (string, error) {
	home, err := env.home()
	if err != nil {
		return "", fmt.Errorf("%w: neither --cookie nor ACTORNODE_COOKIE is set, and the home directory is unknown: %w", errNoCookie,
			err)
	}
	return filepath.Join(home, ".erlang.cookie"), nil
}

// cookieOf finds the cookie for a configuration. file is the user's cookie file if the cookie comes from there.
func cookieOf(cfg *config.Config, env environment) (cookie, file string, err error) {
	switch {
	case cfg.Cookie != "":
		return cfg.Cookie, "", nil
	case cfg.CookieFile != "":
		c, err := env.readCookie(cfg.CookieFile)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %s: the file %s does not exist", errNoCookie, cfg.Origin("cookie_file").Where, cfg.CookieFile)
		}
		return c, "", err
	}
	if file, err = cookieFile(env); err != nil {
		return "", "", err
	}
	cookie, err = env.readCookie(file)
	return cookie, file, err
}

// daemonCookie is cookieOf at the start of a daemon. If no cookie is configured and the user has no cookie file, it creates
// one.
func daemonCookie(cfg *config.Config, env environment, log *slog.Logger) (string, error) {
	c, file, err := cookieOf(cfg, env)
	if file == "" || !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	made, err := makeCookie(file)
	if err != nil {
		return "", err
	}
	if made {
		log.Info("created a cookie file: every node of the cluster needs the same cookie", "file", file)
	}
	return env.readCookie(file) // another process may have created it
}

// warn logs unsafe settings and unknown variables.
func (d *daemon) warn() {
	for _, v := range unknownVariables(d.env) {
		d.log.Warn("a variable of the environment is ignored: there is no such setting", "variable", v.name, "did_you_mean", v.meant)
	}
	if from := d.cfg.Origin("cookie"); from.Rank == config.FromFlag {
		d.log.Warn("the cookie is visible to all users of this machine in the list of processes; use cookie_file, --cookie-file or "+
			"ACTORNODE_COOKIE",
			"setting", from.Where)
	}
}

// maxCookie bounds the size of a cookie file: OTP's cookies have at most 255 characters.
const maxCookie = 1 << 10

// readCookie reads a cookie from a file that only its owner may read or change, like OTP's auth: it ignores line ends after
// the cookie. The error wraps fs.ErrNotExist if there is no file. The file must belong to the user of this process, or to
// root.
//
// On Windows files have no mode, and any access control list is accepted, as in OTP. A credential of systemd may be
// readable by its group: the file belongs to root, and on file systems with access control lists the right of the daemon's
// user shows in the group bits; the manager makes sure that no other user can read it. A secret in a Kubernetes pod may
// also be readable by its group: it belongs to root and to the group named by the pod.
func (e environment) readCookie(file string) (string, error) {
	text, info, err := regular.Read(file, maxCookie)
	uid, foreign := 0, false
	if info != nil {
		uid, foreign = regular.Foreign(info)
	}
	switch {
	case info == nil || errors.Is(err, regular.ErrNotRegular):
		return "", fmt.Errorf("%w: %w", errNoCookie, err)
	case foreign:
		return "", fmt.Errorf("%w: cookie file %s belongs to the user %d, who knows the cookie then; "+
			"want a file of this user or of root", errNoCookie, file, uid)
	case runtime.GOOS != "windows" && info.Mode().Perm()&e.othersMode(file) != 0:
		return "", fmt.Errorf("%w: cookie file %s has mode %04o; want 0400 or 0600, so that only its owner can read it: chmod 400 %s",
			errNoCookie, file, info.Mode().Perm(), file)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoCookie, err)
	}
	c := strings.TrimRight(string(text), "\r\n")
	if c == "" {
		return "", fmt.Errorf("%w: %s is empty", errNoCookie, file)
	}
	if err := config.CheckCookie(c); err != nil {
		return "", fmt.Errorf("%w: %s: %w", errNoCookie, file, err)
	}
	return c, nil
}

// othersMode returns the mode bits that would let users other than the owner access the cookie.
func (e environment) othersMode(file string) fs.FileMode {
	credentials := e.get("CREDENTIALS_DIRECTORY")
	isCredential := credentials != "" && filepath.Dir(filepath.Clean(file)) == filepath.Clean(credentials)
	if isCredential || e.get("KUBERNETES_SERVICE_HOST") != "" {
		return 0o037 // all but reading by the group
	}
	return 0o077
}

// cookieLetters is the length of a new cookie, as in OTP.
const cookieLetters = 20

// makeCookie creates a file with a new cookie, unless it exists. It writes the file under another name and then links it to
// file, which only one process can do: when several daemons start at the same time, all read the same complete cookie.
func makeCookie(file string) (made bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".erlang.cookie.*") // with O_EXCL and mode 0600
	if err != nil {
		return false, fmt.Errorf("%w, and creating a cookie file failed: %w", errNoCookie, err)
	}
	defer os.Remove(f.Name())
	_, err = io.WriteString(f, newCookie())
	err = errors.Join(err, f.Chmod(0o400), f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), file)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w, and creating a cookie file failed: %w", errNoCookie, err)
	}
	return true, nil
}

// newCookie returns twenty random letters from A to Z: 94 bits.
func newCookie() string {
	letters := make([]byte, 0, cookieLetters)
	const most = 256 / 26 * 26 // larger bytes would favour the first letters
	for len(letters) < cookieLetters {
		var b [cookieLetters]byte
		rand.Read(b[:]) // never fails
		for _, x := range b {
			if x < most && len(letters) < cookieLetters {
				letters = append(letters, 'A'+x%26)
			}
		}
	}
	return string(letters)
}
