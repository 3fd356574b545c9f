#### go1
f() { OPTIND=1; while getopts "ab:c" o; do echo "$o ${OPTARG-none} $OPTIND"; done; shift $((OPTIND-1)); echo "rest $*"; }; f -a -b val -c x y; f -abval z; f -ab; f -z; f -- -a; f -b

#### go2
f() { local OPTIND o; while getopts ":ab:" o "$@"; do case $o in :) echo "missing $OPTARG";; \?) echo "bad $OPTARG";; *) echo "$o $OPTARG";; esac; done; }; f -z -b; f -a -x

#### go3
getopts ab: o -a -b x; echo $? $o $OPTIND; getopts ab: o -a -b x; echo $? $o $OPTARG $OPTIND; getopts ab: o -a -b x; echo $? $o $OPTIND

#### go4
OPTERR=0; getopts a o -z; echo $? $o; set -- -a; getopts a o; echo $o; getopts a o; echo $? $o
