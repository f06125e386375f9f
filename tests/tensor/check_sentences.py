"""Each sentence with which a call of tensors, their files, modules or data fails is named by a test: a test has a string with a part of it. Those that no
test can meet, or that pass on another's sentence, are listed here with the reason. Run from the top of the source tree."""
import glob
import re
import sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = rf"(?:{LITERAL}\s*)+"
# A status and the sentence; what says why, in functions of a file that have the rest of the sentence; and reasons in variables.
FAILING = rf"(?:QN_ERROR_\w+\s*,|\b(?:wrong_text|refuse)\([^;{{}}\"]*,|\bwrong =)\s*({LITERALS})"
CONVERSION = r"%[-+ #0-9.]*(?:ll|l|z|h)?[a-zA-Z]"
SOURCES = ["src/tensor/*.c", "src/tensor/files/*.c", "src/nn/*.c"]
TESTS = ["tests/unit/tensor_*.c", "tests/unit/nn_*.c", "tests/unit/data_*.c", "tests/unit/files_support.h", "tests/tensor/*.py"]
WITHOUT = {
    "%s": "passes on what another has said",
    "q %s, k %s, v %s: %s": "said with a reason, which counts by itself",
    '"%.80s": %s': "said with a reason, which counts by itself",
    "qn_load: rules[%llu] %s": "said with a reason, which counts by itself",
    "the value is %s": "said with a reason, which counts by itself",
    "%s of %s: %s": "said with a reason, which counts by itself",
    "the header of %s is damaged: %s": "said with a reason, which counts by itself",
    "too many tensors": "of more than 2^32",
    "%s has no f64": "of devices without doubles, which those that tests have are not",
    "tensors: no way to read a view of %s": "an error of quern's own: what asks for it is not there",
    "tensors: a kernel of too many arrays": "an error of quern's own: the scheduler stays below",
    "tensors: a kernel of too many numbers": "an error of quern's own: the scheduler stays below",
}


def text_of(literals):
    return "".join(part[1:-1] for part in re.findall(LITERAL, literals)).replace('\\"', '"')


def without_comments(text):
    return re.sub(r"/\*.*?\*/|'\"'", " ", text, flags=re.S)


def sentences(path):
    with open(path) as f:
        text = without_comments(f.read())
    found = [(text_of(m.group(1)), path) for m in re.finditer(FAILING, text)]
    return [s for s in found if not re.fullmatch(r"qn_\w+", s[0])]


def strings_of_tests():
    strings = []
    for pattern in TESTS:
        for path in glob.glob(pattern):
            with open(path) as f:
                text = f.read()
            strings += [text_of(s) for s in re.findall(LITERALS, without_comments(text) if not path.endswith(".py") else text)]
    return [s for s in strings if len(s) >= 4]


def is_named(sentence, strings):
    """A test has three words that follow on each other, or all of what stands between two values; or what it has is a part of that."""
    pieces = [piece.strip() for piece in re.split(CONVERSION, sentence)]
    longest = max(pieces, key=len)
    for piece in pieces:
        words = piece.split()
        runs = [" ".join(words[i:i + 3]) for i in range(len(words) - 2)] or [piece] * (piece == longest)
        runs += [piece] * (len(words) == 2 and len(piece) >= 6)
        if any(run in s for run in runs if len(run) >= 4 for s in strings) or any(s in piece for s in strings if len(s) >= 10):
            return True
    return False


def main():
    found = [s for pattern in SOURCES for path in sorted(glob.glob(pattern)) for s in sentences(path)]
    strings = strings_of_tests()
    missing = [s for s in found if s[0] not in WITHOUT and not is_named(s[0], strings)]
    for sentence, path in missing:
        print(f"{path}: no test has a part of: {sentence}")
    for sentence in WITHOUT:
        if all(s[0] != sentence for s in found):
            print(f"no call fails with this any more: {sentence}")
            missing.append(sentence)
    print(f"{len(found)} sentences, {len(missing)} without a test")
    sys.exit(1 if missing or len(found) < 300 else 0)


main()
