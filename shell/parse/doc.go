// Package parse reads Bash source the way Bash reads it and yields the syntax
// tree of mvdan.cc/sh/v3/syntax.
//
//	p := parse.New("echo hi; x=$((1 $op 2))\n", 1, parse.Options{})
//	for {
//		stmts, err := p.Next() // the commands up to the next newline
//		...
//	}
//
// # Why not that module's own parser
//
// Its tree is a good one and is kept. Its parser reads a whole file before the
// first command runs, and decides early what Bash decides late. Of the forms in
// testdata/forms.txt, all of which Bash accepts, it refuses: arithmetic and
// subscripts that are only complete once expanded ($((1 $op 2)), m[a.b]=1,
// ${m[x y]}), arithmetic that is wrong (an error of that one command, at run
// time, in Bash), "((a); (b))", here-documents that end with the file, "! !"
// and more. It also knows nothing of aliases, and its messages are not Bash's.
// TestAgainstModuleParser holds the two together wherever both accept.
//
// # The tree
//
// What differs from the trees of that module's parser:
//
//   - An arithmetic expression or a subscript (ArithmExpr) is always a
//     *syntax.Word: the text, with its expansions as parts, to be expanded as
//     if in double quotes and evaluated when it is reached. Subscripts that are
//     to be taken as they are have single-quoted parts.
//   - An extended glob is literal text in its word, not an ExtGlob node: what is
//     inside it expands like any other part.
//   - let is an ordinary command.
//   - The body of a here-document with a quoted delimiter is one SglQuoted part.
//   - A parameter expansion that can only fail when reached ("bad
//     substitution") has its source in Flags and no Param.
//   - A backquoted command substitution keeps its text in Last[0].Text (and as
//     it was written in Last[1].Text) and no statements: Bash parses it when it
//     is reached. A substitution that starts with "$((" or "<((" has its
//     source in Last[0].Text besides its statements.
//   - CallExpr.Assigns may hold array values, and a Subshell or a Block with
//     redirections before it does not exist.
//
// # Limits
//
// Nesting deeper than MaxDepth is an error: the input is hostile and the
// evaluator recurses as deeply as the tree.
package parse
