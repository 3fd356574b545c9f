package shell_test
import ("testing";"math/rand/v2";"fmt")
func TestDump(t *testing.T){ for i:=uint64(0);i<uint64(*countFlag);i++{ g:=&generator{r: rand.New(rand.NewPCG(*seedFlag+i,0))}; fmt.Printf("=== %d\n%s\n",*seedFlag+i,g.script()) } }
