package tree

import "context"

// cursor walks the nodes of one level of a tree in order, reading the nodes
// above on the way. The root must not be the empty one.
type cursor struct {
	t     *Tree
	level uint8
	path  []step // from the root to the level; empty before the first seek
}

// step is a node and, above the cursor's level, the child that the path takes.
type step struct {
	n *node
	i int
}

// node is where the cursor is.
func (c *cursor) node() *node { return c.path[len(c.path)-1].n }

// seek moves to the first node whose last key is not less than key. If there
// is none it moves to the last node and reports false. From one seek to the
// next, keys must not decrease.
func (c *cursor) seek(ctx context.Context, key []byte) (within bool, err error) {
	if len(c.path) == 0 {
		root, err := c.t.node(ctx, c.t.root)
		if err != nil {
			return false, err
		}
		c.path = append(make([]step, 0, MaxLevels), step{n: root})
	}
	// Climb only as far as needed: most seeks stay close.
	up := len(c.path) - 1
	for ; up > 0; up-- {
		if n := c.path[up].n; n.compareKey(n.n-1, key) >= 0 {
			break
		}
	}
	c.path = c.path[:up+1]
	within = true
	for c.node().level > c.level {
		s := &c.path[len(c.path)-1]
		if s.i = s.n.search(key, 0); s.i == s.n.n {
			s.i--
			within = false
		}
		if err := c.descend(ctx); err != nil {
			return false, err
		}
	}
	if n := c.node(); n.compareKey(n.n-1, key) < 0 {
		within = false
	}
	return within, nil
}

// next moves to the next node of the level and reports whether there is one.
// If not, the cursor stays.
func (c *cursor) next(ctx context.Context) (bool, error) {
	up := len(c.path) - 2
	for up >= 0 && c.path[up].i == c.path[up].n.n-1 {
		up--
	}
	if up < 0 {
		return false, nil
	}
	c.path = c.path[:up+1]
	c.path[up].i++
	for c.node().level > c.level {
		if err := c.descend(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// prev moves to the previous node of the level and reports whether there is
// one. If not, the cursor stays.
func (c *cursor) prev(ctx context.Context) (bool, error) {
	up := len(c.path) - 2
	for up >= 0 && c.path[up].i == 0 {
		up--
	}
	if up < 0 {
		return false, nil
	}
	c.path = c.path[:up+1]
	c.path[up].i--
	for c.node().level > c.level {
		if err := c.descend(ctx); err != nil {
			return false, err
		}
		if n := c.node(); n.level > c.level {
			c.path[len(c.path)-1].i = n.n - 1
		}
	}
	return true, nil
}

// descend appends the child that the last step takes; after an error the path
// must be sought anew.
func (c *cursor) descend(ctx context.Context) error {
	n, err := c.t.below(ctx, c.path)
	if err != nil {
		c.path = c.path[:0]
		return err
	}
	c.path = append(c.path, step{n: n})
	return nil
}
