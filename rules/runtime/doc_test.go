package runtime

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table in docs/runtimes.md")

// TestPage holds the table of the page to the profiles.
func TestPage(t *testing.T) {
	const path, begin, end = "../../docs/runtimes.md", "<!-- profiles -->\n", "<!-- end of profiles -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the profiles")
	}
	list, err := Profiles()
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, p := range list {
		want += section(p)
	}
	if want == old {
		return
	}
	if !*update {
		t.Fatalf("the page is stale (-want +got):\n%s", cmp.Diff(want, old))
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o666); err != nil {
		t.Fatal(err)
	}
}

func section(p Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n%s. Sums: %s. Subnormal numbers: %s. In float32 inside: %s.\n\n", p.Name, p.Title,
		[...]string{"", "unknown", "float32", "the operands' type"}[p.Accumulate], [...]string{"", "unknown", "kept", "may be flushed"}[p.Flush], operators(p.Wide))
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	b.WriteString("\nSources:")
	for _, s := range p.Sources {
		fmt.Fprintf(&b, " <%s>", s)
	}
	b.WriteString("\n")
	return b.String()
}

func operators(list []string) string {
	if len(list) == 0 {
		return "none known"
	}
	return strings.Join(list, ", ")
}
