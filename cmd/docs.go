package cmd

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/site"
)

func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "docs DIR",
		Short: "Write the guides and the pages of the rules to a folder, as a site",
		Long: "Writes the documentation of this version as plain HTML: the guides, a page for each rule and index.html, which leads to them. " +
			"The pages need no network, no script and no server.",
		Example: "  amplint docs public",
		Args:    takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := site.Build(Version)
			if err != nil {
				return err
			}
			if err := writeSite(args[0], files); err != nil {
				return usagef("%w", err)
			}
			p := &printer{w: a.out}
			p.f("%d pages; open %s\n", len(files), filepath.Join(args[0], files[0].Path))
			return p.err
		},
	}
}

func writeSite(dir string, files []site.File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		err := analyze.WriteFile(path, func(w io.Writer) error {
			_, err := w.Write(f.Data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
