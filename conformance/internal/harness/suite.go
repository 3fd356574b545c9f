package harness

import "fmt"

// Case is one named check.
type Case struct {
	// Name is "group/what/it-asserts", unique in the suite.
	Name  string
	Group string
	// Long cases take seconds; a short run leaves them out.
	Long bool
	// Alone cases measure what other cases would disturb: they run one after
	// another when the rest is done.
	Alone bool
	Run   func(t *T)
}

// Suite is a list of cases in groups.
type Suite struct {
	Cases []Case
	taken map[string]bool
}

// Group is where a group's cases are declared; its name, and those of Sub,
// prefix theirs.
type Group struct {
	suite  *Suite
	group  string
	prefix string
}

// Group returns the group of that name.
func (s *Suite) Group(name string) *Group {
	return &Group{suite: s, group: name, prefix: name + "/"}
}

// Sub returns g with a longer prefix.
func (g *Group) Sub(format string, args ...any) *Group {
	return &Group{suite: g.suite, group: g.group, prefix: g.prefix + fmt.Sprintf(format, args...) + "/"}
}

// Case declares a case.
func (g *Group) Case(name string, run func(t *T)) { g.add(Case{Name: name, Run: run}) }

// Long declares a case that takes seconds.
func (g *Group) Long(name string, run func(t *T)) { g.add(Case{Name: name, Long: true, Run: run}) }

// Alone declares a case that runs with no other beside it.
func (g *Group) Alone(name string, run func(t *T)) { g.add(Case{Name: name, Alone: true, Run: run}) }

func (g *Group) add(c Case) {
	c.Group = g.group
	c.Name = g.prefix + c.Name
	if g.suite.taken[c.Name] {
		panic("harness: two cases are named " + c.Name)
	}
	if g.suite.taken == nil {
		g.suite.taken = make(map[string]bool)
	}
	g.suite.taken[c.Name] = true
	g.suite.Cases = append(g.suite.Cases, c)
}
