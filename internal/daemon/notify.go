package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"

	"github.com/vfsd/vfsd/internal/control"
)

// ReadyEnv names the variable in which whoever starts a daemon passes the
// descriptor that is told when calls are answered, or why not.
const ReadyEnv = "VFSD_READY_FD"

// readyMessage is what goes through it, as JSON.
type readyMessage struct {
	PID   int            `json:"pid"`
	Error *control.Error `json:"error,omitempty"`
}

// Notify returns a RunOptions.Ready that tells whoever started this process:
// vfsctl through ReadyEnv's descriptor, systemd through its socket.
func Notify(log *slog.Logger) func(error) {
	var pipe *os.File
	if fd, err := strconv.Atoi(os.Getenv(ReadyEnv)); err == nil && fd > 2 {
		pipe = os.NewFile(uintptr(fd), ReadyEnv)
	}
	return func(err error) {
		if pipe != nil {
			if werr := writeReady(pipe, err); werr != nil {
				log.Warn("nobody hears whether the daemon is ready", "err", werr)
			}
			pipe = nil
		}
		if socket := os.Getenv("NOTIFY_SOCKET"); socket != "" && err == nil {
			if werr := notifySystemd(socket, "READY=1"); werr != nil {
				log.Warn("cannot tell systemd that the daemon is ready", "err", werr)
			}
		}
	}
}

func writeReady(pipe *os.File, err error) error {
	m := readyMessage{PID: os.Getpid()}
	if err != nil {
		m.Error = Classify(err)
	}
	werr := json.NewEncoder(pipe).Encode(m)
	return errors.Join(werr, pipe.Close())
}

// readyLimit bounds what is read of a message, in bytes.
const readyLimit = 64 << 10

// ErrSilent says that a daemon ended before it said anything.
var ErrSilent = errors.New("the daemon ended before it was ready")

// ReadReady waits for the message of a daemon that was started with the other
// end of r. The error is why the daemon will not answer.
func ReadReady(r io.Reader) (pid int, err error) {
	var m readyMessage
	if err := json.NewDecoder(io.LimitReader(r, readyLimit)).Decode(&m); err != nil {
		return 0, ErrSilent
	}
	if m.Error != nil {
		return m.PID, m.Error
	}
	return m.PID, nil
}

// notifySystemd speaks sd_notify's protocol: one datagram.
func notifySystemd(socket, state string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	return errors.Join(err, c.Close())
}
