// Package tree is a persistent ordered map from binary keys to values, kept as
// a prolly tree: sorted entries cut into nodes at boundaries that the content
// chooses, nodes named by their digest.
package tree
