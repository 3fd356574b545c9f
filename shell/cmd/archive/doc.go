// Package archive has the commands that pack, compress, encode and sum up:
// tar, zip, cpio, gzip, bzip2, xz, zstd and their kin, base64, md5sum and all
// other sums. Importing it registers them.
package archive
