// Package site makes the documentation a site of plain HTML: the guides, the pages of the rules and
// an index. A page needs nothing from elsewhere, and its links hold from a folder and a server alike.
package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"

	"github.com/amplint/amplint/docs"
	"github.com/amplint/amplint/rules"
)

//go:embed html/page.html html/style.css
var assets embed.FS

// File is one page of the site.
type File struct {
	Path string // slash-separated, below the folder of the site
	Data []byte
}

// page is what a page is filled with. Its links lead from its own folder.
type page struct {
	path, text string // text is Markdown
	Title      string // of the window
	Name, Lead string
	Root       string // leads to the folder of the site
	Version    string
	Style      template.CSS
	Guides     []*page
	Kinds      []kind // set on the index alone
	Kind       string // of a rule
	Prev, Next *page
	Contents   []heading
	Body       template.HTML
}

// From returns the link to a page from another one.
func (p *page) From(other *page) string { return other.Root + p.path }

// kind is a group of rules in the index.
type kind struct {
	Name, About string
	Rules       []*page
}

// Build returns the pages of the site, the index first.
func Build(version string) ([]File, error) {
	style, err := assets.ReadFile("html/style.css")
	if err != nil {
		return nil, err
	}
	frame, err := template.ParseFS(assets, "html/page.html")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, p := range pages() {
		p.Version, p.Style = version, template.CSS(style)
		var b bytes.Buffer
		if err := frame.Execute(&b, p); err != nil {
			return nil, fmt.Errorf("page %s: %w", p.path, err)
		}
		files = append(files, File{p.path, b.Bytes()})
	}
	return files, nil
}

// pages returns the pages, rendered and bound to each other.
func pages() []*page {
	guides, kinds := guidePages(), kindPages()
	index := &page{path: "index.html", Title: "amplint documentation", Kinds: kinds}
	all := append([]*page{index}, guides...)
	for _, k := range kinds {
		all = append(all, k.Rules...)
	}
	for i, p := range all {
		p.Guides = guides
		if i > 0 {
			render(p)
			p.Prev = all[i-1]
		}
		if i+1 < len(all) {
			p.Next = all[i+1]
		}
	}
	return all
}

func guidePages() []*page {
	var list []*page
	for _, name := range docs.Names() {
		text, _ := docs.Guide(name)
		list = append(list, &page{path: name + ".html", Name: name, text: text})
	}
	return list
}

// kindPages returns the pages of the rules by kind, the kinds and the rules of each in the order of
// the package rules.
func kindPages() []kind {
	var list []kind
	for k := rules.Overflow; k <= rules.IndexExactness; k++ {
		list = append(list, kind{Name: k.String(), About: about(k), Rules: rulePages(k)})
	}
	return append(list, kind{Name: rules.Invalid.String(), About: about(rules.Invalid), Rules: rulePages(rules.Invalid)})
}

func rulePages(k rules.Kind) []*page {
	var list []*page
	for _, r := range rules.All() {
		if r.Kind != k {
			continue
		}
		text, _ := rules.Page(r.Name)
		list = append(list, &page{
			path: "rules/" + r.Name + ".html", Root: "../", text: text,
			Name: r.Name, Kind: k.String(), Title: r.Name + ": " + r.Title, Lead: r.Title,
		})
	}
	return list
}

// about tells what a kind of rules looks for.
func about(k rules.Kind) string {
	switch k {
	case rules.Overflow:
		return "a number beyond the largest one of the format, which is Inf there"
	case rules.Underflow:
		return "a number below the least one of the format, which is 0 there"
	case rules.NaN:
		return "an operation outside its domain"
	case rules.PrecisionLoss:
		return "digits that matter and that the format does not hold"
	case rules.Swamping:
		return "small terms that are lost in a large sum"
	case rules.IndexExactness:
		return "integers that the format cannot tell from their neighbours"
	}
	return "the model itself"
}
