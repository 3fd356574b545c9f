package awk

import (
	"slices"
	"strconv"
	"strings"
)

// entry is an element while it is being sorted.
type entry struct {
	key string
	v   value
	arr *array
}

// entries lists the elements of an array in its own order.
func (a *array) entries() []entry {
	keys := a.keys()
	list := make([]entry, len(keys))
	for i, k := range keys {
		e := a.m[k]
		list[i] = entry{k, e.value, e.arr}
	}
	return list
}

// sortedKeys lists subscripts in the order that PROCINFO["sorted_in"] asks for.
func (in *interp) sortedKeys(a *array) []string {
	e := in.special[vPROCINFO].arr.m["sorted_in"]
	if e == nil {
		return a.keys()
	}
	how := e.string(in.convfmt())
	if how == "" || how == "@unsorted" {
		return a.keys()
	}
	list := a.entries()
	in.sortEntries(list, how)
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = list[i].key
	}
	return keys
}

// sortEntries sorts by one of gawk's named orders, or by a function.
func (in *interp) sortEntries(list []entry, how string) {
	name, dir := how, 1
	if s, ok := strings.CutSuffix(how, "_desc"); ok {
		name, dir = s, -1
	} else {
		name = strings.TrimSuffix(how, "_asc")
	}
	var compare func(a, b *entry) int
	switch name {
	case "@ind_str":
		compare = func(a, b *entry) int { return strings.Compare(a.key, b.key) }
	case "@ind_num":
		compare = compareKeys
	case "@val_type":
		compare = func(a, b *entry) int { return in.compareEntries(a, b) }
	case "@val_str":
		compare = func(a, b *entry) int {
			if d := arraysLast(a, b); d != 0 {
				return d
			}
			if d := strings.Compare(a.v.string(in.convfmt()), b.v.string(in.convfmt())); d != 0 {
				return d
			}
			return compareKeys(a, b)
		}
	case "@val_num":
		compare = func(a, b *entry) int {
			if d := arraysLast(a, b); d != 0 {
				return d
			}
			x, y := a.v.float(), b.v.float()
			if x != y {
				return compareFloats(x, y)
			}
			return strings.Compare(a.v.string(in.convfmt()), b.v.string(in.convfmt()))
		}
	default:
		if strings.HasPrefix(how, "@") {
			in.fatal("sort comparison function `%s' is not defined", how)
		}
		compare, dir = in.compareBy(how), 1
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		in.step()
		return dir * compare(&a, &b)
	})
}

// compareBy compares by a function of the program.
func (in *interp) compareBy(name string) func(a, b *entry) int {
	f := in.prog.functions[name]
	if f == nil || len(f.params) < 4 {
		in.fatal("sort comparison function `%s' is not defined", name)
	}
	return func(a, b *entry) int {
		frame := make([]slot, len(f.params))
		frame[0].value, frame[2].value = input(a.key), input(b.key)
		frame[1] = slot{value: a.v, arr: a.arr}
		frame[3] = slot{value: b.v, arr: b.arr}
		v := in.invoke(f, frame, in.at)
		return compareFloats(v.float(), 0)
	}
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// arraysLast orders arrays behind scalars.
func arraysLast(a, b *entry) int {
	switch {
	case a.arr != nil && b.arr == nil:
		return 1
	case a.arr == nil && b.arr != nil:
		return -1
	}
	return 0
}

// compareKeys orders subscripts as numbers, then as strings.
func compareKeys(a, b *entry) int {
	x, y := text(a.key), text(b.key)
	if p, q := x.float(), y.float(); p != q {
		return compareFloats(p, q)
	}
	return strings.Compare(a.key, b.key)
}

// compareEntries orders numbers before strings and those before arrays.
func (in *interp) compareEntries(a, b *entry) int {
	if d := arraysLast(a, b); d != 0 {
		return d
	}
	an, bn := a.v.isNumeric(), b.v.isNumeric()
	switch {
	case an && !bn:
		return -1
	case !an && bn:
		return 1
	case an:
		if d := compareFloats(a.v.float(), b.v.float()); d != 0 {
			return d
		}
		return compareKeys(a, b)
	}
	x, y := a.v.str, b.v.str
	if in.ignoring {
		x, y = strings.ToLower(x), strings.ToLower(y)
	}
	if d := strings.Compare(x, y); d != 0 {
		return d
	}
	return compareKeys(a, b)
}

// doAsort is asort, and asorti which sorts the subscripts.
func doAsort(in *interp, c *builtinExpr) value {
	src := in.wantArray(c, 0, "first")
	dst := src
	if len(c.args) > 1 {
		dst = in.wantArray(c, 1, "second")
	}
	how := "@val_type_asc"
	if c.name == "asorti" {
		how = "@ind_str_asc"
	}
	if len(c.args) > 2 {
		how = c.string(in, 2)
	}
	list := src.entries()
	in.sortEntries(list, how)
	in.hold(-dst.cost())
	dst.clear()
	for i := range list {
		key := strconv.Itoa(i + 1)
		s, _ := dst.get(key)
		if c.name == "asorti" {
			s.value = text(list[i].key)
		} else {
			s.value, s.arr = list[i].v, list[i].arr
		}
		in.hold(int64(len(key)+len(s.str)) + elementCost)
	}
	return number(float64(len(list)))
}
