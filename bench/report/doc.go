// Package report holds what a benchmark found, and shows it: as a table in
// Markdown, as JSON and as charts in SVG and PNG.
//
// A Report compares two directories, a Curve follows a figure over sizes. Both
// carry the machine they were made on, without its name and without any path
// of it, so that they can be published as they are.
package report
