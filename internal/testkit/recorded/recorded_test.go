package recorded

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const changelog = `# Changelog

## [Unreleased]

### Added

- ` + "`node.Added`" + `

### Changed

- ` + "`node.Config.Name`" + ` is a text, and ` + "`pool`" + ` is gone.

### Removed

- The flag ` + "`actornode call --old`" + `.

## [0.1.0] - 2026-01-02

### Changed

- ` + "`node.Before`" + `
`

func TestAnnounced(t *testing.T) {
	is := announced(changelog)
	for _, name := range []string{"node.Config.Name", "pool.Start", "pool", "actornode call --old"} {
		assert.True(t, is(name), name)
	}
	for _, name := range []string{"node.Added", "node.Config", "node.Config.Names", "pools.Start", "node.Before", "actornode call"} {
		assert.False(t, is(name), name)
	}
	assert.False(t, announced("# Changelog\n")("node.Config"))
}

func TestReleased(t *testing.T) {
	assert.Equal(t, "0.1.0", released(changelog))
	assert.Empty(t, released("# Changelog\n\n## [Unreleased]\n"))
}

func TestCompare(t *testing.T) {
	then := []string{"a: func()", "b: func()", "c: func()", "d: func(int)", "e: func()"}
	now := []string{"a: func()", "b: func(int)", "d: func()", "f: func()"}
	wrong := compare(then, now, func(name string) bool { return name == "d" || name == "e" })
	assert.Equal(t, []string{"b has changed\nwas: func()\nis:  func(int)", "c is gone\nwas: func()"}, wrong)
}
