// Package data has the commands for structured data: jq, yq, xan, sqlite3 and
// html-to-markdown. Importing it registers them.
package data
