package limits

import "strings"

// maxBrief is how many bytes of a text are shown that a stranger can make longer.
const maxBrief = 1 << 10

// Brief is the beginning of the text of an error that a stranger can make longer.
func Brief(err error) string {
	text := err.Error()
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}
