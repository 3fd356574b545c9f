package files

import (
	"context"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	options := []command.Option{
		{Short: 'f', Long: "force", Help: "do not prompt before overwriting"},
		{Short: 'i', Long: "interactive", Help: "prompt before overwrite"},
		{Short: 'n', Long: "no-clobber", Help: "do not overwrite an existing file"},
		{Long: "strip-trailing-slashes", ID: cpStripSlashes, Help: "remove any trailing slashes from each SOURCE argument"},
		{Short: 'u', Long: "update", Help: "move only when the SOURCE file is newer\nthan the destination file or when the\ndestination file is missing"},
		{Short: 'v', Long: "verbose", Help: "explain what is being done"},
	}
	options = append(append(append(options, backupOptions...), targetOptions...), contextOptions...)
	command.Register(command.Info{
		Name:     "mv",
		Synopsis: "mv [OPTION]... [-T] SOURCE DEST\nmv [OPTION]... SOURCE... DIRECTORY\nmv [OPTION]... -t DIRECTORY SOURCE...",
		Summary:  "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.",
		Options:  options,
	}, mv)
}

func mv(ctx context.Context, c *command.Context, args []string) int {
	k := newCopier(ctx, c)
	k.move, k.recursive, k.follow = true, true, followNone
	k.keep = preserved{true, true, true, true, true}
	var where placing
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'f':
			k.overwrite = overwriteYes
		case 'n':
			k.overwrite = overwriteNo
		default:
			if status, ok := k.cpOption(p, &where); !ok {
				return status
			}
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if k.overwrite == overwriteNo && k.backup.asked {
		return c.Usage("options --backup and --no-clobber are mutually exclusive")
	}
	k.backup.finish(c)
	return k.place(names, &where)
}
