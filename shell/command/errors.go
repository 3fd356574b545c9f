package command

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// messages are the texts of strerror(3) in the GNU C library, which differ from
// Go's in case and now and then in words.
var messages = map[syscall.Errno]string{
	syscall.EPERM:           "Operation not permitted",
	syscall.ENOENT:          "No such file or directory",
	syscall.ESRCH:           "No such process",
	syscall.EINTR:           "Interrupted system call",
	syscall.EIO:             "Input/output error",
	syscall.ENXIO:           "No such device or address",
	syscall.E2BIG:           "Argument list too long",
	syscall.ENOEXEC:         "Exec format error",
	syscall.EBADF:           "Bad file descriptor",
	syscall.ECHILD:          "No child processes",
	syscall.EAGAIN:          "Resource temporarily unavailable",
	syscall.ENOMEM:          "Cannot allocate memory",
	syscall.EACCES:          "Permission denied",
	syscall.EFAULT:          "Bad address",
	syscall.ENOTBLK:         "Block device required",
	syscall.EBUSY:           "Device or resource busy",
	syscall.EEXIST:          "File exists",
	syscall.EXDEV:           "Invalid cross-device link",
	syscall.ENODEV:          "No such device",
	syscall.ENOTDIR:         "Not a directory",
	syscall.EISDIR:          "Is a directory",
	syscall.EINVAL:          "Invalid argument",
	syscall.ENFILE:          "Too many open files in system",
	syscall.EMFILE:          "Too many open files",
	syscall.ENOTTY:          "Inappropriate ioctl for device",
	syscall.ETXTBSY:         "Text file busy",
	syscall.EFBIG:           "File too large",
	syscall.ENOSPC:          "No space left on device",
	syscall.ESPIPE:          "Illegal seek",
	syscall.EROFS:           "Read-only file system",
	syscall.EMLINK:          "Too many links",
	syscall.EPIPE:           "Broken pipe",
	syscall.EDOM:            "Numerical argument out of domain",
	syscall.ERANGE:          "Numerical result out of range",
	syscall.EDEADLK:         "Resource deadlock avoided",
	syscall.ENAMETOOLONG:    "File name too long",
	syscall.ENOLCK:          "No locks available",
	syscall.ENOSYS:          "Function not implemented",
	syscall.ENOTEMPTY:       "Directory not empty",
	syscall.ELOOP:           "Too many levels of symbolic links",
	syscall.ENOMSG:          "No message of desired type",
	syscall.EIDRM:           "Identifier removed",
	syscall.ENOSTR:          "Device not a stream",
	syscall.ENODATA:         "No data available",
	syscall.ETIME:           "Timer expired",
	syscall.ENOSR:           "Out of streams resources",
	syscall.EREMOTE:         "Object is remote",
	syscall.ENOLINK:         "Link has been severed",
	syscall.EPROTO:          "Protocol error",
	syscall.EMULTIHOP:       "Multihop attempted",
	syscall.EBADMSG:         "Bad message",
	syscall.EOVERFLOW:       "Value too large for defined data type",
	syscall.EILSEQ:          "Invalid or incomplete multibyte or wide character",
	syscall.EUSERS:          "Too many users",
	syscall.ENOTSOCK:        "Socket operation on non-socket",
	syscall.EDESTADDRREQ:    "Destination address required",
	syscall.EMSGSIZE:        "Message too long",
	syscall.EPROTOTYPE:      "Protocol wrong type for socket",
	syscall.ENOPROTOOPT:     "Protocol not available",
	syscall.EPROTONOSUPPORT: "Protocol not supported",
	syscall.ESOCKTNOSUPPORT: "Socket type not supported",
	syscall.EPFNOSUPPORT:    "Protocol family not supported",
	syscall.EAFNOSUPPORT:    "Address family not supported by protocol",
	syscall.EADDRINUSE:      "Address already in use",
	syscall.EADDRNOTAVAIL:   "Cannot assign requested address",
	syscall.ENETDOWN:        "Network is down",
	syscall.ENETUNREACH:     "Network is unreachable",
	syscall.ENETRESET:       "Network dropped connection on reset",
	syscall.ECONNABORTED:    "Software caused connection abort",
	syscall.ECONNRESET:      "Connection reset by peer",
	syscall.ENOBUFS:         "No buffer space available",
	syscall.EISCONN:         "Transport endpoint is already connected",
	syscall.ENOTCONN:        "Transport endpoint is not connected",
	syscall.ESHUTDOWN:       "Cannot send after transport endpoint shutdown",
	syscall.ETOOMANYREFS:    "Too many references: cannot splice",
	syscall.ETIMEDOUT:       "Connection timed out",
	syscall.ECONNREFUSED:    "Connection refused",
	syscall.EHOSTDOWN:       "Host is down",
	syscall.EHOSTUNREACH:    "No route to host",
	syscall.EALREADY:        "Operation already in progress",
	syscall.EINPROGRESS:     "Operation now in progress",
	syscall.ESTALE:          "Stale file handle",
	syscall.EDQUOT:          "Disk quota exceeded",
	syscall.ECANCELED:       "Operation canceled",
	syscall.EOWNERDEAD:      "Owner died",
	syscall.ENOTRECOVERABLE: "State not recoverable",
	syscall.EOPNOTSUPP:      "Operation not supported",
}

// Strerror is the GNU C library's text for an error: that of its errno when
// it has one, else what the error says of itself.
func Strerror(err error) string {
	if err == nil {
		return "Success"
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "Unexpected end of file"
	case errors.Is(err, vfs.ErrCorrupt), errors.Is(err, vfs.ErrNoRight),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		errno = vfs.ToErrno(err)
	default:
		return err.Error()
	}
	if m, ok := messages[errno]; ok {
		return m
	}
	return errno.Error()
}
