package shell

// declareLocal makes name local to the running function and returns it, to be
// changed. One that is local already stays as it is.
func (s *state) declareLocal(name string) *variable {
	if v := s.vars[name]; v != nil && v.scope == s.scope {
		v = s.change(name)
		v.attr |= attrLocal
		return v
	}
	i := s.functionFrame()
	if i < 0 {
		return s.change(name)
	}
	f := s.ownFrame(i)
	if _, ok := f.saved[name]; !ok {
		f.saved[name] = s.vars[name]
	}
	old := s.vars[name]
	v := &variable{own: s.own, scope: s.scope, attr: attrLocal}
	if old != nil {
		if s.opts.shopts(shoptLocalvarInherit) && old.special == nil {
			v = old.clone(s.own)
			v.scope = s.scope
			v.attr = v.attr&^attrNameref | attrLocal
		} else if old.special != nil {
			v.special = nil
		}
	}
	s.ownVars()[name] = v
	return v
}

// functionFrame is the place of the running function's frame, -1 outside.
func (s *state) functionFrame() int {
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].fn != nil {
			return i
		}
	}
	return -1
}

// global returns the global variable of that name, to be changed, even while a
// local one hides it.
func (s *state) global(name string) *variable {
	for i := range s.frames {
		if _, ok := s.frames[i].saved[name]; !ok {
			continue
		}
		f := s.ownFrame(i)
		v := f.saved[name]
		if v == nil {
			v = &variable{own: s.own}
		} else if v.own != s.own {
			v = v.clone(s.own)
		}
		f.saved[name] = v
		return v
	}
	return s.change(name)
}

// unset removes a variable. One that is local to the running function stays
// local, without a value; a caller's local uncovers what it hid.
func (s *state) unset(name string) {
	v := s.vars[name]
	if v == nil {
		return
	}
	if v.special == nil {
		s.keep(-s.size(v))
	}
	vars := s.ownVars()
	if v.scope > 0 && (v.scope == s.scope && v.attr&attrLocal != 0 || s.opts.shopts(shoptLocalvarUnset)) {
		vars[name] = &variable{own: s.own, scope: v.scope, attr: attrLocal}
		return
	}
	if v.scope > 0 {
		for i := len(s.frames) - 1; i >= 0; i-- {
			if old, ok := s.frames[i].saved[name]; ok {
				delete(s.ownFrame(i).saved, name)
				if old != nil {
					vars[name] = old
				} else {
					delete(vars, name)
				}
				return
			}
		}
	}
	delete(vars, name)
	s.assigned(name, &variable{})
}

// size is what keep counted for a variable.
func (s *state) size(v *variable) int {
	n := len(v.str)
	if v.arr != nil {
		for _, t := range v.arr.val {
			n += len(t) + elementCost
		}
	}
	if v.m != nil {
		for k, t := range v.m.m {
			n += len(k) + len(t) + 3*elementCost
		}
	}
	return n
}
