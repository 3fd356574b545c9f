// Package volumes makes workspaces volumes of Docker and podman: it serves their
// volume plugin protocol (JSON over HTTP on a Unix socket) and has the daemon do
// the work.
//
//	p, err := volumes.Open(volumes.Options{Client: c, StateFile: file, MountDir: dir})
//	err = p.Serve(ctx, listener)
//
// A volume is a workspace of the same name, mounted once on the host however
// many containers use it. What the plugin made, `docker volume rm` removes; a
// workspace that was there before is only let go of.
package volumes
