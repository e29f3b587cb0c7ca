package printable

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hidden reports, independently of Shows, what must not reach a terminal, for all of Unicode.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func TestAllCharacters(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		shown, line, want := Text("a"+string(r)+"z"), Styled("a"+string(r)+"z"), "a"+string(r)+"z"
		switch {
		case hidden(r):
			want = `a\x{` + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + `}z`
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			want = shown // either will do
		}
		if shown != want {
			t.Fatalf("%U: %q, want %q", r, shown, want)
		}
		if r == '\n' || r == '\t' {
			want = "a" + string(r) + "z"
		}
		if line != want {
			t.Fatalf("%U in a line: %q, want %q", r, line, want)
		}
		if r != utf8.RuneError {
			quoted, _ := json.Marshal(string(r))
			escaped, back := Escape(nil, quoted), ""
			if err := json.Unmarshal(escaped, &back); err != nil || back != string(r) || !Is(string(escaped)) {
				t.Fatalf("%U: %q, %q, %v", r, escaped, back, err)
			}
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"Zürich 東京":            "Zürich 東京",
		"\x1b]52;c;ZXZpbA==\a": `\x{1B}]52;c;ZXZpbA==\x{7}`,
		"\u202egnp.exe":        `\x{202E}gnp.exe`,
		"a\xffb\u009b2J":       `a\x{FF}b\x{9B}2J`,
		"one\r\ntwo":           `one\x{D}\x{A}two`,
		"\x1b[31mred\x1b[m":    `\x{1B}[31mred\x{1B}[m`,
		"\ufffd":               `\x{FFFD}`,
	} {
		assert.Equal(t, want, Text(text))
		assert.Equal(t, text == want, Is(text))
	}
}

// However a text is cut into writes, the output is the same.
func TestWriter(t *testing.T) {
	long := "\x1b[" + strings.Repeat("1;", 100) + "m"
	for text, want := range map[string]string{
		"\x1b[1;38:5:9mbold\x1b[m\n\tü€😀":       "\x1b[1;38:5:9mbold\x1b[m\n\tü€😀",
		"\x1b[2J\x1b]0;title\a\x1b(0":           `\x{1B}[2J\x{1B}]0;title\x{7}\x{1B}(0`,
		"over\rwritten\b":                       `over\x{D}written\x{8}`,
		"cut \xe2\x82":                          `cut \x{E2}\x{82}`,
		"open \x1b[3":                           `open \x{1B}[3`,
		"\x1b\x1b[3m":                           "\\x{1B}\x1b[3m",
		long:                                    `\x{1B}` + long[1:],
		"\u200bzero\u2066width\ufe0f\U000e0001": `\x{200B}zero\x{2066}width\x{FE0F}\x{E0001}`,
	} {
		assert.Equal(t, want, Styled(text))
		for size := 1; size < 8; size++ {
			var b strings.Builder
			w := Writer{To: &b}
			for i := 0; i < len(text); i += size {
				n, err := w.Write([]byte(text[i:min(i+size, len(text))]))
				require.NoError(t, err)
				require.Equal(t, min(size, len(text)-i), n)
			}
			require.NoError(t, w.Flush())
			assert.Equal(t, want, b.String(), "by %d", size)
		}
	}
}
