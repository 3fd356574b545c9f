// Package jqlang evaluates the language of jq. The parser is gojq's; values and
// evaluation are ours, because jq keeps the order of an object's keys, which
// gojq gives up.
//
//	code, err := jqlang.Compile(".users[] | .name", nil)
//	err = code.Run(ctx, opts, input, func(v any) error { ... })
//
// A value is nil, bool, float64, string, []any or *Object. Values are never
// changed once they are made, so they may share what they hold. Messages are
// jq's.
package jqlang
