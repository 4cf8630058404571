package site

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/amplint/amplint/rules"
)

// heading is an entry of the contents of a page.
type heading struct{ ID, Text string }

// fewest is how many parts a page has before it lists them.
const fewest = 4

// scrolling lets what is wider than the page scroll by itself, and by keyboard.
var scrolling = strings.NewReplacer(
	"<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`)

// render fills in what a page takes from its text.
func render(p *page) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	src := []byte(p.text)
	doc := md.Parser().Parse(text.NewReader(src))
	for _, n := range nodes(doc) {
		adapt(p, n, src)
	}
	if len(p.Contents) < fewest {
		p.Contents = nil
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, src, doc); err != nil {
		panic(err) // a buffer takes all
	}
	p.Body = template.HTML(scrolling.Replace(b.String()))
}

// nodes returns all nodes below one, so that they can be changed without losing the way.
func nodes(doc ast.Node) []ast.Node {
	var list []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			list = append(list, n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(err) // the function above returns none
	}
	return list
}

// adapt fits a part of the text to the site.
func adapt(p *page, n ast.Node, src []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		listHeading(p, n, src)
	case *ast.Link:
		relink(p, n)
	case *ast.CodeSpan:
		linkRule(p, n, src)
	case *ast.HTMLBlock: // a mark for programs that rewrite the text
		if n.HTMLBlockType == ast.HTMLBlockType2 {
			n.Parent().RemoveChild(n.Parent(), n)
		}
	}
}

func listHeading(p *page, n *ast.Heading, src []byte) {
	switch name := plain(n, src); n.Level {
	case 1:
		if p.Title == "" {
			p.Title, p.Lead = name, name
		}
	case 2:
		id, _ := n.AttributeString("id")
		b, _ := id.([]byte)
		p.Contents = append(p.Contents, heading{string(b), name})
	}
}

// plain returns the text of a node without its markup.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	for _, d := range nodes(n) {
		if t, ok := d.(*ast.Text); ok {
			b.Write(t.Value(src))
		}
	}
	return b.String()
}

// relink turns a link to another guide into one to its page. A file of the repository is not on the
// site: its link leaves the text behind.
func relink(p *page, n *ast.Link) {
	to := string(n.Destination)
	file, part, found := strings.Cut(to, "#")
	switch name, guide := strings.CutSuffix(file, ".md"); {
	case file == "" || strings.Contains(to, "://"):
	case guide && !strings.Contains(name, "/"):
		to = p.Root + name + ".html"
		if found {
			to += "#" + part
		}
		n.Destination = []byte(to)
	default:
		for n.FirstChild() != nil {
			n.Parent().InsertBefore(n.Parent(), n, n.FirstChild())
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// linkRule makes the name of another rule a link to its page.
func linkRule(p *page, n *ast.CodeSpan, src []byte) {
	name := plain(n, src)
	if _, ok := rules.Page(name); !ok || name == p.Name {
		return
	}
	if parent := n.Parent(); parent.Kind() != ast.KindLink && parent.Kind() != ast.KindHeading {
		link := ast.NewLink()
		link.Destination = []byte(p.Root + "rules/" + name + ".html")
		parent.ReplaceChild(parent, n, link)
		link.AppendChild(link, n)
	}
}
