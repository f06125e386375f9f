#!/bin/sh
# The examples of tensors as a user runs them: each says its result, and fails where that is below its bar, or after two minutes.
# Usage: examples.sh BUILD      Those whose data are not there are left out.
set -eu
build=$1
out=$build/examples
mkdir -p "$out"
status=0
run() {
    name=$1
    shift
    timeout 120 "$build/quern_$name" "$@" --plot "$out/$name.svg" || { echo "examples: $name failed" >&2; status=1; }
}
timeout 120 "$build/quern_xor" || status=1
run regression --out "$out/fit.svg"
run series --out "$out/forecast.svg"
run rnn
run text
digits=build/data/digits.csv.gz
if [ -s $digits ]; then
    run digits $digits
    run vae $digits --out "$out/vae.png"
    run gan $digits --out "$out/gan.png"
else
    echo "examples: no $digits: see scripts/digits"
fi
exit $status
