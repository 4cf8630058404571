package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/docs"
	"github.com/amplint/amplint/rules"
)

// parsed is what the tests need of a page.
type parsed struct {
	title, text string
	ids, links  []string
	headings    int // of the first level
	tables      int
	policy      string
}

// written builds the site into a folder and reads back what stands there.
func written(t *testing.T) map[string]*parsed {
	t.Helper()
	dir := t.TempDir()
	files, err := Build("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	site := map[string]*parsed{}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		site[filepath.ToSlash(rel)] = parse(t, rel, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func parse(t *testing.T, name string, data []byte) *parsed {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	p, in := &parsed{}, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
			p.element(t, name, token)
		case xml.CharData:
			if in == "title" {
				p.title += string(token)
			}
			if in != "style" {
				p.text += string(token)
			}
		case xml.Comment:
			t.Errorf("%s leaves out markup: %s", name, token)
		case xml.EndElement:
			in = ""
		}
	}
}

// element keeps what is linked to and from, and fails on what a browser would fetch or run.
func (p *parsed) element(t *testing.T, name string, e xml.StartElement) {
	switch e.Name.Local {
	case "script", "iframe", "img", "object", "embed", "form":
		t.Errorf("%s holds a %s", name, e.Name.Local)
	case "h1":
		p.headings++
	case "table":
		p.tables++
	}
	for _, a := range e.Attr {
		switch {
		case a.Name.Local == "id":
			if slices.Contains(p.ids, a.Value) {
				t.Errorf("%s has two parts %q", name, a.Value)
			}
			p.ids = append(p.ids, a.Value)
		case a.Name.Local == "href" && e.Name.Local == "a":
			p.links = append(p.links, a.Value)
		case a.Name.Local == "href" && a.Value != "data:,", a.Name.Local == "src", strings.HasPrefix(a.Name.Local, "on"):
			t.Errorf("%s fetches or runs %q", name, a.Value)
		case a.Name.Local == "content" && strings.HasPrefix(a.Value, "default-src"):
			p.policy = a.Value
		}
	}
}

func TestLinks(t *testing.T) {
	site := written(t)
	reached := map[string]bool{}
	for name, p := range site {
		for _, link := range p.links {
			u, err := url.Parse(link)
			if err == nil && u.Scheme == "https" {
				continue // a source that is named, which nothing fetches
			}
			if err != nil || u.IsAbs() || strings.HasPrefix(link, "/") {
				t.Errorf("%s: link %q is not relative", name, link)
				continue
			}
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			target := site[to]
			if target == nil {
				t.Errorf("%s: link %q leads nowhere", name, link)
				continue
			}
			if u.Fragment != "" && !slices.Contains(target.ids, u.Fragment) {
				t.Errorf("%s: %s has no part %q", name, to, u.Fragment)
			}
			if name == "index.html" {
				reached[to] = true
			}
		}
	}
	for name := range site {
		if !reached[name] {
			t.Errorf("no link of the index leads to %s", name)
		}
	}
}

func TestPages(t *testing.T) {
	site := written(t)
	titles := map[string]string{}
	for name, p := range site {
		if other := titles[p.title]; p.title == "" || other != "" {
			t.Errorf("%s: title %q, which is that of %q", name, p.title, other)
		}
		titles[p.title] = name
		if p.headings != 1 {
			t.Errorf("%s has %d first headings", name, p.headings)
		}
		if !strings.HasPrefix(p.policy, "default-src 'none';") {
			t.Errorf("%s: policy %q lets the page fetch", name, p.policy)
		}
		if strings.Contains(p.text, "```") || strings.Contains(p.text, "|--") {
			t.Errorf("%s shows markup", name)
		}
	}
	for _, r := range rules.All() {
		text, _ := rules.Page(r.Name)
		whole(t, site, "rules/"+r.Name+".html", text)
	}
	for _, name := range docs.Names() {
		text, ok := docs.Guide(name)
		if !ok {
			t.Errorf("no guide %q", name)
		}
		whole(t, site, name+".html", text)
	}
}

// whole fails where a page lacks a block of code or a table of its text.
func whole(t *testing.T, site map[string]*parsed, name, text string) {
	t.Helper()
	p := site[name]
	if p == nil {
		t.Errorf("there is no page %s", name)
		return
	}
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 0 {
			continue
		}
		if _, code, _ := strings.Cut(part, "\n"); !strings.Contains(p.text, code) {
			t.Errorf("%s lacks the code\n%s", name, code)
		}
	}
	if tables := strings.Count(text, "\n|--") + strings.Count(text, "\n| --"); p.tables != tables {
		t.Errorf("%s has %d tables of %d", name, p.tables, tables)
	}
}

func TestSame(t *testing.T) {
	a, err := Build("1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build("1")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(a, b, func(x, y File) bool { return x.Path == y.Path && bytes.Equal(x.Data, y.Data) }) {
		t.Error("the site differs from one time to the next")
	}
}

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"guide", "[a](fix.md)", `<p><a href="../fix.html">a</a></p>`},
		{"part of a guide", "[a](fix.md#x)", `<p><a href="../fix.html#x">a</a></p>`},
		{"part of the page", "[a](#x)", `<p><a href="#x">a</a></p>`},
		{"elsewhere", "[a](https://onnx.ai/b.md)", `<p><a href="https://onnx.ai/b.md">a</a></p>`},
		{"file of the repository", "the [*a* and `b`](../c.md) d", `<p>the <em>a</em> and <code>b</code> d</p>`},
		{"rule", "see `long-sum`", `<p>see <a href="../rules/long-sum.html"><code>long-sum</code></a></p>`},
		{"rule in a link", "[`long-sum`](fix.md)", `<p><a href="../fix.html"><code>long-sum</code></a></p>`},
		{"own name", "`tiny-epsilon`", `<p><code>tiny-epsilon</code></p>`},
		{"mark", "a\n\n<!-- mark -->\n\nb", "<p>a</p>\n<p>b</p>"},
		{"markup", "a <script>b</script>", "<p>a <!-- raw HTML omitted -->b<!-- raw HTML omitted --></p>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &page{Name: "tiny-epsilon", Root: "../", text: tt.text}
			render(p)
			if got := strings.TrimSpace(string(p.Body)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
