package files

import (
	"context"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	dfOutput = 256 + iota
	dfTotal
	dfSync
	dfNoSync
)

func init() {
	command.Register(command.Info{
		Name:     "df",
		Synopsis: "df [OPTION]... [FILE]...",
		Summary:  "Show information about the file system on which each FILE resides,\nor all file systems by default: a workspace is one.",
		Options: []command.Option{
			{Short: 'a', Long: "all", Help: "include pseudo, duplicate, inaccessible file systems"},
			{Short: 'B', Long: "block-size", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "scale sizes by SIZE before printing them"},
			{Short: 'h', Long: "human-readable", Help: "print sizes in powers of 1024 (e.g., 1023M)"},
			{Short: 'H', Long: "si", Help: "print sizes in powers of 1000 (e.g., 1.1G)"},
			{Short: 'i', Long: "inodes", Help: "list inode information instead of block usage"},
			{Short: 'k', Help: "like --block-size=1K"},
			{Short: 'l', Long: "local", Help: "limit listing to local file systems"},
			{Short: 'm', Help: "like --block-size=1M"},
			{Long: "no-sync", ID: dfNoSync, Help: "do not invoke sync before getting usage info (default)"},
			{Long: "output", Arg: command.OptionalArgument, ArgName: "FIELD_LIST", ID: dfOutput, Help: "use the output format defined by FIELD_LIST,\nor print all fields if FIELD_LIST is omitted"},
			{Short: 'P', Long: "portability", Help: "use the POSIX output format"},
			{Long: "sync", ID: dfSync, Help: "invoke sync before getting usage info"},
			{Long: "total", ID: dfTotal, Help: "produce a grand total"},
			{Short: 't', Long: "type", Arg: command.RequiredArgument, ArgName: "TYPE", Help: "limit listing to file systems of type TYPE"},
			{Short: 'T', Long: "print-type", Help: "print file system type"},
			{Short: 'v', Help: "(ignored)"},
			{Short: 'x', Long: "exclude-type", Arg: command.RequiredArgument, ArgName: "TYPE", Help: "limit listing to file systems not of type TYPE"},
		},
	}, df)
}

// The names of the workspace as a file system.
const (
	fsSource = "vfsd"
	fsType   = "fuse.vfsd"
)

// dfFields are the columns that df has, in the order of --output.
var dfFields = []struct {
	name, head string
	left       bool
}{
	{"source", "Filesystem", true}, {"fstype", "Type", true}, {"itotal", "Inodes", false}, {"iused", "IUsed", false}, {"iavail", "IFree", false},
	{"ipcent", "IUse%", false}, {"size", "", false}, {"used", "Used", false}, {"avail", "Avail", false}, {"pcent", "Use%", false},
	{"file", "File", true}, {"target", "Mounted on", true},
}

// diskFree is one run of df.
type diskFree struct {
	c       *command.Context
	size    gnulib.BlockSize
	human   bool
	posix   bool
	inodes  bool
	columns []string
}

func df(ctx context.Context, c *command.Context, args []string) int {
	d := diskFree{c: c, size: gnulib.BlockSizeOf(c.Env, "DF_BLOCK_SIZE")}
	printType, total, output := false, false, ""
	hasOutput, only, not := false, []string{}, []string{}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'B':
			b, err := gnulib.ParseBlockSize(p.Arg())
			if err != nil {
				return c.Errorf("invalid %s argument %s", p.Spelled(), c.Quote(p.Arg()))
			}
			d.size = b
		case 'h':
			d.size, d.human = gnulib.Human, true
		case 'H':
			d.size, d.human = gnulib.SI, true
		case 'i':
			d.inodes = true
		case 'k':
			d.size = gnulib.Plain(1 << 10)
		case 'm':
			d.size = gnulib.Plain(1 << 20)
		case 'P':
			d.posix = true
		case 'T':
			printType = true
		case 't':
			only = append(only, p.Arg())
		case 'x':
			not = append(not, p.Arg())
		case dfTotal:
			total = true
		case dfOutput:
			hasOutput, output = true, p.Arg()
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if status, ok := d.choose(hasOutput, output, printType); !ok {
		return status
	}
	st, err := c.FS.FS.Statfs(&c.FS.Op)
	if err != nil {
		return c.Errorf("cannot read file system information: %s", command.Strerror(err))
	}
	shown := (len(only) == 0 || contains(only, fsType)) && !contains(not, fsType)
	var rows [][]string
	if len(names) == 0 && shown {
		rows = append(rows, d.row(&st, "-"))
	}
	for _, name := range names {
		if _, err := c.FS.Stat(name); err != nil {
			status = c.Fail(name, err)
		} else if shown {
			rows = append(rows, d.row(&st, name))
		}
	}
	if len(rows) == 0 {
		if status == 0 || len(names) == 0 {
			status = c.Errorf("no file systems processed")
		}
		return status
	}
	if total {
		row := d.row(&st, "-")
		for i, col := range d.columns {
			switch col {
			case "source":
				row[i] = "total"
			case "fstype", "target":
				row[i] = "-"
			}
		}
		rows = append(rows, row)
	}
	d.print(rows)
	return status
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// choose fills in the columns.
func (d *diskFree) choose(hasOutput bool, output string, printType bool) (int, bool) {
	c := d.c
	if hasOutput {
		if d.inodes || d.posix || printType {
			other := map[bool]string{true: "-i"}[d.inodes]
			if other == "" && d.posix {
				other = "-P"
			} else if other == "" {
				other = "-T"
			}
			return c.Usage("options %s and %s are mutually exclusive", other, "--output"), false
		}
		if output == "" {
			for _, f := range dfFields {
				d.columns = append(d.columns, f.name)
			}
			return 0, true
		}
		for _, name := range strings.Split(output, ",") {
			if dfField(name) < 0 {
				return c.Usage("option --output: field %s unknown", c.Quote(name)), false
			}
			if contains(d.columns, name) {
				return c.Usage("option --output: field %s used more than once", c.Quote(name)), false
			}
			d.columns = append(d.columns, name)
		}
		return 0, true
	}
	d.columns = []string{"source"}
	if printType {
		d.columns = append(d.columns, "fstype")
	}
	if d.inodes {
		d.columns = append(d.columns, "itotal", "iused", "iavail", "ipcent", "target")
	} else {
		d.columns = append(d.columns, "size", "used", "avail", "pcent", "target")
	}
	return 0, true
}

func dfField(name string) int {
	for i, f := range dfFields {
		if f.name == name {
			return i
		}
	}
	return -1
}

func (d *diskFree) row(st *vfs.Statfs, file string) []string {
	unit := uint64(st.BlockSize)
	used := st.Blocks - min(st.BlocksFree, st.Blocks)
	iused := st.Files - min(st.FilesFree, st.Files)
	count := func(n uint64) string {
		if d.human {
			return d.size.Format(n, 1)
		}
		return strconv.FormatUint(n, 10)
	}
	values := map[string]string{"source": fsSource, "fstype": fsType, "target": "/", "file": file,
		"itotal": count(st.Files), "iused": count(iused), "iavail": count(st.FilesFree), "ipcent": percent(iused, st.FilesFree),
		"size": d.size.Format(st.Blocks, unit), "used": d.size.Format(used, unit), "avail": d.size.Format(st.BlocksAvail, unit), "pcent": percent(used, st.BlocksAvail)}
	row := make([]string, len(d.columns))
	for i, name := range d.columns {
		row[i] = values[name]
	}
	return row
}

// percent is used of used and available, rounded up.
func percent(used, avail uint64) string {
	if used+avail == 0 {
		return "-"
	}
	p := used / (used + avail) * 100
	if rest := used % (used + avail); rest > 0 {
		p += uint64((float64(rest)*100 + float64(used+avail) - 1) / float64(used+avail))
	}
	return strconv.FormatUint(p, 10) + "%"
}

func (d *diskFree) head(name string) string {
	switch {
	case name == "size" && d.human:
		return "Size"
	case name == "size" && d.posix:
		return strconv.FormatUint(d.size.Unit, 10) + "-blocks"
	case name == "size":
		unit := gnulib.BlockSize{Unit: 1, Auto: true, Base: d.size.Base, Suffix: true}.Format(d.size.Unit, 1)
		return strings.TrimSuffix(strings.Replace(unit, ".0", "", 1), " ") + "-blocks"
	case name == "avail" && !d.human:
		return "Available"
	case name == "pcent" && d.posix:
		return "Capacity"
	}
	return dfFields[dfField(name)].head
}

// print aligns the columns; the last one is not padded.
func (d *diskFree) print(rows [][]string) {
	widths := make([]int, len(d.columns))
	heads := make([]string, len(d.columns))
	for i, name := range d.columns {
		heads[i] = d.head(name)
		widths[i] = len(heads[i])
		switch name {
		case "source":
			widths[i] = max(widths[i], 14)
		case "size", "used", "avail", "itotal", "iused", "iavail":
			widths[i] = max(widths[i], 5)
		}
		for _, row := range rows {
			widths[i] = max(widths[i], len(row[i]))
		}
	}
	for _, row := range append([][]string{heads}, rows...) {
		for i, v := range row {
			if i > 0 {
				d.c.Stdout.WriteString(" ")
			}
			left := dfFields[dfField(d.columns[i])].left
			switch {
			case left && i == len(row)-1:
			case left:
				v = padRight(v, widths[i])
			default:
				v = padLeft(v, widths[i])
			}
			d.c.Stdout.WriteString(v)
		}
		d.c.Stdout.WriteString("\n")
	}
}
