package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

// Addresses, as the help of several commands explains them.
const aboutURLs = `A URL is one of

  vfs://HOST[:PORT]/WORKSPACE      a vfsd that listens (vfsd --listen), with TLS
  unix:/PATH/vfsd.sock#WORKSPACE   another data directory of this machine
  ssh://[USER@]HOST/WORKSPACE      a vfsd reached by ssh, which runs "vfsd serve --stdio"`

// remoteOptions are what is said of a peer.
type remoteOptions struct {
	*options
	token  string
	ca     string
	forget bool
}

func (r *remoteOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.token, "token", "", "`TOKEN` that the peer's vfsctl share gave; @FILE reads it from a file, - from standard input; default $VFSD_TOKEN")
	cmd.Flags().StringVar(&r.ca, "ca", "", "know the peer by a certificate authority, in PEM in this `file`, not by the first key it shows")
}

// read returns the token and the authorities.
func (r *remoteOptions) read(stdin io.Reader) (token, ca string, err error) {
	token = r.token
	switch {
	case token == "":
		token = os.Getenv("VFSD_TOKEN")
	case token == "-":
		var b []byte
		b, err = io.ReadAll(io.LimitReader(stdin, 1<<16))
		token = string(b)
	case strings.HasPrefix(token, "@"):
		var b []byte
		b, err = os.ReadFile(token[1:])
		token = string(b)
	}
	if err == nil && r.ca != "" {
		var b []byte
		b, err = os.ReadFile(r.ca)
		ca = string(b)
	}
	return strings.TrimSpace(token), ca, err
}

func newRemote(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Say where a workspace is synced with",
		Long: `Say where a workspace is synced with. A clone has the remote "origin", where it
came from; any workspace can have others.

` + aboutURLs,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	r := remoteOptions{options: o}
	add := &cobra.Command{
		Use:   "add WORKSPACE NAME URL",
		Short: "Name a workspace of a peer, or change what is said of it",
		Long: `Name a workspace of a peer. With a name that is there already, what is said of it
changes.

` + aboutURLs + `

A peer with TLS is known by the key that it shows first; a different one later is
refused, until --forget says that the change is meant.`,
		Example: "  vfsctl remote add ws hub vfs://hub.example/ws --token @ws.token\n  vfsctl remote add ws laptop ssh://laptop/ws",
		Args:    cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, ca, err := r.read(cmd.InOrStdin())
			if err != nil {
				return err
			}
			m, err := call(cmd.Context(), o, control.SetRemoteCall, control.SetRemoteRequest{
				Workspace: args[0], Name: args[1], URL: args[2], Token: token, CA: ca, Forget: r.forget,
			})
			if err != nil {
				return err
			}
			if o.json {
				return s.printJSON(m)
			}
			s.printf("workspace %s has the remote %s at %s\ntry next:\n  vfsctl sync %s %s\n", args[0], s.colour(bold, m.Name), m.URL, args[0], m.Name)
			return nil
		},
	}
	r.flags(add)
	add.Flags().BoolVar(&r.forget, "forget", false, "forget the key of the peer: take the next that it shows")
	list := &cobra.Command{
		Use: "list WORKSPACE", Short: "List the remotes of a workspace", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), o, control.RemotesCall, control.RemotesRequest{Workspace: args[0]})
			if err != nil {
				return err
			}
			if o.json {
				return s.printJSON(res)
			}
			rows := [][]string{{"REMOTE", "URL", "TOKEN", "KEY"}}
			for _, m := range res.Remotes {
				rows = append(rows, []string{m.Name, m.URL, yesNo(m.HasToken), keyOf(m)})
			}
			return s.table(rows)
		},
	}
	remove := &cobra.Command{
		Use: "remove WORKSPACE NAME", Short: "Forget a remote", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), o, control.RemoveRemoteCall, control.RemoveRemoteRequest{Workspace: args[0], Name: args[1]})
			if err != nil {
				return err
			}
			if o.json {
				return s.printJSON(res)
			}
			s.printf("workspace %s has no remote %s any more\n", args[0], args[1])
			return nil
		},
	}
	for _, c := range []*cobra.Command{add, list, remove} {
		c.Args, c.ValidArgsFunction = usageArgs(c.Args), completeWorkspaces(o)
		cmd.AddCommand(jsonFlag(c, o))
	}
	return cmd
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func keyOf(m control.Remote) string {
	switch {
	case m.CA:
		return "by authority"
	case m.Fingerprint == "":
		return "not met yet"
	}
	return m.Fingerprint
}

type shareOptions struct {
	*options
	label, expires, revoke, rate string
	write, list                  bool
}

func newShare(o *options, s streams) *cobra.Command {
	h := shareOptions{options: o}
	cmd := &cobra.Command{
		Use:   "share WORKSPACE",
		Short: "Make a token that lets a peer read or write a workspace",
		Long: `Make a token. Whoever has it may clone and pull the workspace and, with --write,
push to it, through any address that this vfsd listens on (vfsd --listen). It is
told once, on standard output; vfsd keeps no copy of it.

--list lists the tokens that were made and --revoke ends one.`,
		Example: "  vfsctl share ws --write --expires 720h > ws.token\n  vfsctl share --list\n  vfsctl share --revoke 1f0c",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case h.revoke != "":
				return runRevoke(cmd, h, s)
			case h.list:
				return runShares(cmd, h, s, strings.Join(args, ""))
			case len(args) == 0:
				return control.Errorf(control.KindUsage, "share: it takes a workspace, --list or --revoke ID")
			}
			return runShare(cmd, h, s, args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&h.write, "write", false, "allow to push too")
	f.StringVar(&h.expires, "expires", "", "end after this `TIME`, as 90m or 720h; never if it is not given")
	f.StringVar(&h.rate, "rate", "", "bound all its sessions together to this `SIZE` a second, as 10MiB")
	f.StringVar(&h.label, "label", "", "a `NAME` for the log and the list")
	f.BoolVar(&h.list, "list", false, "list the tokens, of all workspaces or of one")
	f.StringVar(&h.revoke, "revoke", "", "end the token with this `ID`; its first digits will do")
	return jsonFlag(cmd, o)
}

func runShare(cmd *cobra.Command, h shareOptions, s streams, ws string) error {
	life, err := lifetime(h.expires)
	if err != nil {
		return err
	}
	var rate uint64
	if h.rate != "" {
		if rate, err = readBytes(h.rate); err != nil || rate == 0 || rate > math.MaxInt64 {
			return control.Errorf(control.KindUsage, "share: --rate %q: it takes a size, as 10MiB", h.rate)
		}
	}
	res, err := call(cmd.Context(), h.options, control.ShareCall, control.ShareRequest{
		Workspace: ws, Write: h.write, Lifetime: life, Rate: int64(rate), Label: h.label,
	})
	if err != nil {
		return err
	}
	if h.json {
		return s.printJSON(res)
	}
	s.printf("%s\n", res.Token)
	fmt.Fprintf(s.Err, "token %s: whoever has it may %s workspace %s%s\nkey of this vfsd: %s\n",
		res.Share.ID, rights(res.Share), ws, until(res.Share), res.Fingerprint)
	for _, url := range res.URLs {
		fmt.Fprintf(s.Err, "at %s\n", url)
	}
	if len(res.URLs) == 0 {
		fmt.Fprintf(s.Err, "note: this vfsd does not listen for peers; start it as vfsd --listen HOST:PORT\n")
	}
	return nil
}

func lifetime(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, control.Errorf(control.KindUsage, "share: --expires %q: it takes a time, as 90m or 720h", s)
	}
	return int64(d), nil
}

func rights(s control.Share) string {
	if s.Write {
		return "read and write"
	}
	return "read"
}

func until(s control.Share) string {
	if s.Expires.IsZero() {
		return ""
	}
	return ", until " + s.Expires.Local().Format("2006-01-02 15:04")
}

func runShares(cmd *cobra.Command, h shareOptions, s streams, ws string) error {
	res, err := call(cmd.Context(), h.options, control.SharesCall, control.SharesRequest{Workspace: ws})
	if err != nil {
		return err
	}
	if h.json {
		return s.printJSON(res)
	}
	rows := [][]string{{"ID", "WORKSPACE", "RIGHT", "MADE", "ENDS", "LABEL"}}
	for _, x := range res.Shares {
		ends := "never"
		if !x.Expires.IsZero() {
			ends = x.Expires.Local().Format("2006-01-02 15:04")
		}
		if !x.Revoked.IsZero() {
			ends = "revoked"
		}
		rows = append(rows, []string{x.ID, x.Workspace, rights(x), x.Made.Local().Format("2006-01-02 15:04"), ends, x.Label})
	}
	return s.table(rows)
}

func runRevoke(cmd *cobra.Command, h shareOptions, s streams) error {
	x, err := call(cmd.Context(), h.options, control.RevokeCall, control.RevokeRequest{ID: h.revoke})
	if err != nil {
		return err
	}
	if h.json {
		return s.printJSON(x)
	}
	s.printf("token %s of workspace %s is revoked\n", x.ID, x.Workspace)
	return nil
}
