package net

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// explain turns an error into curl's status and text.
func (t *transfer) explain(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	var f *failure
	var d *DialError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	status := curlReceive
	switch {
	case errors.As(err, &f):
		status, t.message = f.status, f.text
	case errors.As(err, &d):
		status, t.message = dialFailure(d)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		status = curlTimeout
		t.message = fmt.Sprintf("Operation timed out after %d milliseconds with %d bytes received", int(t.o.maxTime*1000), t.received)
	case errors.As(err, &cert):
		status, t.message = curlCert, "SSL certificate problem: "+certProblem(cert.Err)
	case errors.As(err, &record):
		status, t.message = curlTLS, "error:0A00010B:SSL routines::wrong version number"
	case strings.Contains(err.Error(), "tls: "):
		status, t.message = curlTLS, "TLS connect error: "+err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		status, t.message = curlEmpty, "Empty reply from server"
	case errors.Is(err, syscall.ECONNRESET):
		t.message = "Recv failure: Connection reset by peer"
	default:
		var no *vfs.Error
		t.message = err.Error()
		if errors.As(err, &no) {
			status, t.message = curlWriteError, "Failure writing output to destination"
		}
	}
	return status
}

// dialFailure is what curl says when it cannot connect.
func dialFailure(d *DialError) (int, string) {
	switch {
	case errors.Is(d.Err, command.ErrNoHost):
		return curlResolve, "Could not resolve host: " + d.Host
	case errors.Is(d.Err, context.DeadlineExceeded):
		return curlTimeout, fmt.Sprintf("Failed to connect to %s port %d after %d ms: Timeout was reached", d.Host, d.Port, d.After.Milliseconds())
	case errors.Is(d.Err, command.ErrNetworkDenied):
		return curlConnect, fmt.Sprintf("Failed to connect to %s port %d after 0 ms: Couldn't connect to server (%v)", d.Host, d.Port, command.ErrNetworkDenied)
	}
	return curlConnect, fmt.Sprintf("Failed to connect to %s port %d after %d ms: Couldn't connect to server", d.Host, d.Port, d.After.Milliseconds())
}

// certProblem puts a fault of a certificate into OpenSSL's words.
func certProblem(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return "unable to get local issuer certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "certificate has expired"
	case errors.As(err, &host):
		return "no alternative certificate subject name matches target host name '" + host.Host + "'"
	}
	return err.Error()
}
