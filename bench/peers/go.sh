# What the run script of a peer in Go is; each sources it, and is in the folder of
# its own program.
#
#   run build                   compile into bin
#   run list                    the names of the benches, one a line
#   run BENCH [key=value ...]   run one bench, print one JSON line
#
# Exit status: 0 done, 1 the bench's own check failed (or the build did),
# 2 unknown bench or parameter, 3 no Go on the PATH, or a module that the program
# needs cannot be downloaded.

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
program=$here/bin/${here##*/}

command -v go >/dev/null || {
    echo "run: go is not on the PATH" >&2
    exit 3
}

stale() {
    [ -x "$program" ] || return 0
    [ -n "$(find "$here" "$here/../../internal" \( -name '*.go' -o -name default.pgo -o -name go.mod \) -newer "$program")" ]
}

# Moved into place when it is whole, so that a run started at the same time
# never starts half a program.
build() {
    mkdir -p "$here/bin" || return 1
    errors=$(cd "$here" && go build -o "$program.$$" . 2>&1) && {
        mv "$program.$$" "$program"
        return
    }
    case $errors in
    *': Get "http'* | *': reading http'* | *'module lookup disabled by GOPROXY'*)
        module=$(echo "$errors" | sed -n 's/^[^@"]* \([^ @"]*@v[^ :]*\): .*/\1/p' | head -n 1)
        echo "run: $module cannot be downloaded" >&2
        return 3
        ;;
    esac
    echo "$errors" >&2
    return 1
}

if [ "$1" = build ]; then
    build
    exit $?
fi
if stale; then
    build || exit $?
fi
exec "$program" "$@"
