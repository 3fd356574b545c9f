package awk

import "github.com/vfsd/vfsd/shell/cmd/regex"

// expr is an expression of the program.
type expr interface {
	eval(in *interp) value
}

// lvalue is what can be assigned to.
type lvalue interface {
	expr
	// locate finds the place once, so that a subscript's side effects happen
	// once; get and set then act on it.
	locate(in *interp) place
}

// place is where an lvalue is, found.
type place struct {
	slot    *slot
	field   int // when isField
	special int // when slot is nil and it is no field: a special variable
	isField bool
}

type (
	numberLit struct{ v value }
	stringLit struct{ v value }
	// regexLit alone is a match with $0; where a regular expression is wanted
	// it stands for itself.
	regexLit struct {
		src string
		re  map[bool]*regex.Regexp // by whether case is ignored
	}
	globalVar struct {
		name  string
		index int
	}
	specialVar struct {
		name  string
		index int
	}
	localVar struct {
		name  string
		index int
	}
	fieldExpr struct{ index expr }
	indexExpr struct {
		array arrayRef
		subs  []expr
		pos   pos
	}
	assignExpr struct {
		to  lvalue
		op  tok
		val expr
		pos pos
	}
	condExpr   struct{ cond, yes, no expr }
	binaryExpr struct {
		op   tok
		l, r expr
		pos  pos
	}
	compareExpr struct {
		op   tok
		l, r expr
	}
	andExpr    struct{ l, r expr }
	orExpr     struct{ l, r expr }
	notExpr    struct{ x expr }
	negExpr    struct{ x expr }
	plusExpr   struct{ x expr }
	concatExpr struct{ parts []expr }
	matchExpr  struct {
		x, re expr
		not   bool
		pos   pos
	}
	inExpr struct {
		subs  []expr
		array arrayRef
		pos   pos
	}
	incrExpr struct {
		to     lvalue
		delta  float64
		before bool
	}
	callExpr struct {
		name string
		fn   *function // set when all functions are known
		args []expr
		pos  pos
	}
	indirectExpr struct {
		name expr
		args []expr
		pos  pos
	}
	builtinExpr struct {
		name string
		fn   func(in *interp, c *builtinExpr) value
		args []expr
		pos  pos
	}
	getlineExpr struct {
		to   lvalue // nil: $0
		from expr   // a file, a command, or nil
		op   tok    // tLess, tPipe, tPipeBoth or tEOF
		pos  pos
	}
	groupExpr struct{ x expr }
)

// arrayRef names an array: a variable, or an element that is one.
type arrayRef struct {
	name    string
	global  int // -1 when it is none
	local   int // -1 when it is none
	special int // -1 when it is none
	outer   *indexExpr
}

// pos is a place in the program, for messages.
type pos struct {
	src  *source
	line int
}

// stmt is a statement.
type stmt interface {
	exec(in *interp) flow
}

// flow says how control goes on after a statement.
type flow uint8

const (
	flowOn flow = iota
	flowBreak
	flowContinue
	flowNext
	flowNextFile
	flowExit
	flowReturn
)

type (
	exprStmt struct {
		x   expr
		pos pos
	}
	printStmt struct {
		printf bool
		args   []expr
		op     tok // tGreater, tAppend, tPipe, tPipeBoth or tEOF
		to     expr
		pos    pos
	}
	blockStmt struct{ list []stmt }
	ifStmt    struct {
		cond      expr
		then, els stmt
	}
	whileStmt struct {
		cond expr
		body stmt
	}
	doStmt struct {
		body stmt
		cond expr
	}
	forStmt struct {
		init, step stmt
		cond       expr
		body       stmt
	}
	forInStmt struct {
		to    lvalue
		array arrayRef
		body  stmt
		pos   pos
	}
	switchStmt struct {
		x     expr
		cases []switchCase
	}
	jumpStmt struct {
		flow flow
		pos  pos
	}
	exitStmt   struct{ x expr }
	returnStmt struct{ x expr }
	deleteStmt struct {
		array arrayRef
		subs  []expr // nil: all
		pos   pos
	}
)

// switchCase is a case; x is nil for the default.
type switchCase struct {
	x    expr
	body []stmt
}

// rule is a pattern with its action.
type rule struct {
	pattern, to expr // to is set for a range
	body        stmt // nil: print
	active      bool // the range has begun
}

// function is a user's function.
type function struct {
	name   string
	params []string
	body   stmt
	pos    pos
}

// program is a whole program.
type program struct {
	begin, end         []stmt
	beginFile, endFile []stmt
	rules              []*rule
	functions          map[string]*function
	globals            []string
	// unwinds says that a function has exit or next in it.
	unwinds bool
}
