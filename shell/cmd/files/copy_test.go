package files

import (
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// copyWorld has files of different ages, and links of all kinds.
var copyWorld = commandtest.Case{
	Files: map[string]string{"f": "one\n", "g": "other\n", "d/x": "x\n", "d/sub/y": "y\n", "e/f": "old\n", "empty/": "", "with space": "s\n"},
	Entries: []commandtest.Entry{
		{Path: "l", Link: "f"}, {Path: "dl", Link: "d"}, {Path: "gone", Link: "nowhere"}, {Path: "h", Hard: "f"},
		{Path: "p", FIFO: true}, {Path: "x.sh", Content: "#!/bin/sh\n", Mode: 0o755, Time: past},
		{Path: "ro", Content: "ro\n", Mode: 0o444}, {Path: "new", Content: "new\n", Time: time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Path: "links/a", Link: "b"}, {Path: "links/b", Content: "b\n"}, {Path: "links/c", Hard: "links/b"}, {Path: "priv/", Mode: 0o700}, {Path: "priv/s", Content: "s\n", Mode: 0o4711},
	},
}

func TestCp(t *testing.T) {
	timed := commandtest.Case{Times: true, Entries: []commandtest.Entry{
		{Path: "x.sh", Content: "x\n", Mode: 0o755, Time: past}, {Path: "new", Content: "new\n", Time: past.AddDate(1, 0, 0)},
		{Path: "g", Content: "g\n", Time: past.AddDate(2, 0, 0)}, {Path: "d/x", Content: "in d\n", Time: past}}}
	nested := commandtest.Case{Files: map[string]string{"s/t/": ""}}
	asked := copyWorld
	asked.Stdin = "y\nn\n"
	commandtest.Run(t, join(commandtest.Lines(copyWorld,
		"cp f n", "cp f g", "cp f e", "cp f g e", "cp f g h nope", "cp f g x.sh", "cp nope n", "cp nope f e", "cp d n", "cp -r d n", "cp -r d e", "cp -r d/ n", "cp -r d/. e", "cp -R d empty/", "cp -r d nope/n", "cp f nope/n", "cp f n/", "cp f f", "cp f h", "cp f l", "cp l f", "cp l n", "cp -P l n", "cp -d l n", "cp gone n", "cp -P gone n", "cp f gone",
		"cp -r links n", "cp -a links n", "cp -rL links n", "cp -rH dl n", "cp -r dl n", "cp -rP dl n", "cp dl n", "cp -d links/b links/c n", "cp -a d/x x.sh e", "cp x.sh n", "cp ro n", "cp f ro", "cp -f f ro", "cp -n f g", "cp -nv f n", "cp -v f n", "cp -v f g e", "cp -rv d n", "cp -u f new", "cp -u new f", "cp -uv f x.sh", "cp -l f n", "cp -l f g", "cp -lf f g", "cp -s f n", "cp -s f e", "cp -s f g", "cp -sf f g", "cp -rl d n", "cp -rs $DIR/d n",
		"cp -t e f g", "cp -t nope f", "cp -t f g", "cp -T f n", "cp -T f e", "cp -rT d e", "cp -T f g e", "cp -t e -T f", "cp -rT d f", "cp --parents d/sub/y e", "cp --parents d/x f", "cp -r --parents d/sub e", "cp -v --parents d/sub/y e", "cp", "cp f", "cp -z f n", "cp f d e/f", "cp -r d f", "cp -r d f g", "cp f e/f d e", "cp d/x e/f x.sh empty", "cp f e/f empty", "cp f f empty", "cp -r d d empty", "cp -b f g", "cp -bv f g", "cp --backup=numbered f g", "cp --backup=t -v f g", "cp -S .orig -b f g", "cp --backup=none f g", "cp -bn f g",
		"cp -fb f f", "cp --remove-destination f g", "cp --remove-destination -v f l", "cp --attributes-only x.sh g", "cp --preserve=mode x.sh n", "cp --no-preserve=mode x.sh n", "cp --preserve=links links/b links/c empty", "cp --preserve=bogus f n", "cp --sparse=always f n", "cp --sparse=bogus f n", "cp --reflink=never f n", "cp -r p n", "cp -a p n", "cp -r priv n", "cp -a priv n", "cp -pr priv n", "cp priv/s n", "cp -p priv/s n",
		"cp 'with space' n", "cp -v 'with space' n", "cp --strip-trailing-slashes f/ e", "cp f/ n", "cp l/ n", "cp -r dl/ n", "cp -ls f n", "cp e f n", "cp f e/", "cp -rf d/x empty", "cp -rn d e", "cp f/x n", "cp '' n", "cp f ''", "cp -r links/a empty", "cp -a gone empty", "cp f gone -f", "cp --remove-destination f gone", "cp -i f n", "cp -L gone n", "cp -xr d n", "cp -Z f n", "cp -r d/x e/f empty", "cp -a links/. empty", "cp -rd dl empty", "cp -a dl/ empty",
	), commandtest.Lines(timed,
		"cp -p x.sh new n", "cp -a x.sh n", "cp -p x.sh g", "cp --preserve=timestamps x.sh n", "cp -a d n -u", "cp --preserve x.sh n", "cp -dp x.sh n", "cp -pu x.sh new", "cp -pu g new", "cp -pr d g",
	), commandtest.Lines(nested, "cp -r s s", "cp -r s s/t", "cp -r s s/t/n", "mv s s/t", "mv s s/t/n"), commandtest.Lines(asked,
		"cp -i f g", "cp -i f g e", "cp -ri d e", "cp -i x.sh f", "cp -if f g", "cp -in f g", "cp -ni f g", "cp -iv f g", "cp -bi f g",
	)))
}

func TestMv(t *testing.T) {
	asked := copyWorld
	asked.Stdin = "y\nn\n"
	commandtest.Run(t, join(commandtest.Lines(copyWorld,
		"mv f n", "mv f g", "mv f e", "mv f g empty", "mv f g nope", "mv f g x.sh", "mv nope n", "mv nope f empty", "mv d n", "mv d empty", "mv d e", "mv d f", "mv f d", "mv -T f d", "mv -T d e", "mv -T d empty", "mv d d", "mv d d/sub", "mv d d/sub/z", "mv f f", "mv f h", "mv f l", "mv l f", "mv l n", "mv gone n", "mv dl n", "mv dl e", "mv f gone", "mv f dl", "mv -n f g", "mv -nv f n", "mv -v f n", "mv -v f g e", "mv -v d n", "mv -u f new", "mv -u new f", "mv -f f ro", "mv f ro", "mv -b f g", "mv -bv f g", "mv --backup=numbered f g",
		"mv -t empty f g", "mv -t nope f", "mv -t f g", "mv -T f g e", "mv", "mv f", "mv -z f", "mv f nope/n", "mv f n/", "mv d n/", "mv f d/x", "mv d/x f empty", "mv d/sub e/f .", "mv e/f f", "mv f/ n", "mv dl/ n", "mv --strip-trailing-slashes dl/ e", "mv 'with space' n", "mv -v 'with space' n", "mv d/x d/sub/y empty", "mv e/f f empty", "mv f f empty", "mv -bn f g", "mv . empty", "mv .. empty", "mv d/. n", "mv p n", "mv -S .o -b f g", "mv links/a links/b empty", "mv '' n", "mv f ''", "mv d e/f", "mv -f d e/f", "mv -fT e d", "mv -Tf d empty", "mv --verbose f e", "mv --update=all f g", "mv d/sub d", "mv -b d e", "mv -bT empty d", "mv e/f d/x -b",
	), commandtest.Lines(asked, "mv -i f g", "mv -i f g e", "mv -i ro g", "mv -if f g", "mv -in f g", "mv -i x.sh nn", "mv -iv g f")))
}

func TestInstall(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(copyWorld,
		"install f n", "install f g", "install -m 644 f n", "install -m u=rw,go=r f n", "install -v f n", "install -v f g", "install -d a/b/c", "install -dv a/b/c", "install -d -m 700 a/b", "install -dm 750 d", "install -d f", "install -D f a/b/n", "install -Dv f a/b/n", "install -D -t a/b f g", "install -t e f", "install -t nope f", "install f e", "install f g e", "install -v f g e", "install f g nope", "install d e", "install nope e", "install", "install f", "install -m zz f n", "install -o nosuch f n", "install -g nosuch f n", "install -o 0 -g 0 f n", "install -C f n", "install -C x.sh e", "install -b f g", "install -bv f g", "install -p f n", "install -T f e", "install -c f n", "install -T f n", "install -d", "install -d -t a b", "install l n", "install gone n", "install f f", "install -m 4755 f n", "install -Dm 600 f a/n", "install -D f n", "install -x", "install f nope/n", "install f n/", "install -d a a/b e", "install -vd d new",
	))
}
