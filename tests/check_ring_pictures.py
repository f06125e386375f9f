"""The pictures of the rings' examples: a title with the times, and for each bar a label below it. Usage: check_ring_pictures.py FILE..."""
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def check(path):
    picture = ElementTree.parse(path).getroot()
    wide, high = float(picture.get("width")), float(picture.get("height"))
    title, *labels = picture.findall(SVG + "text")
    bars = picture.findall(SVG + "rect")[1:]  # behind the background
    assert re.fullmatch(r".+: p50 [0-9.]+ us, p99 [0-9.]+ us, longest [0-9.]+ us", title.text), title.text
    assert bars and len(bars) == len(labels), (len(bars), len(labels))
    sizes = [[float(bar.get(name)) for name in ("x", "y", "width", "height")] for bar in bars]
    for (x, y, width, height), label in zip(sizes, labels):
        assert 0 <= x and x + width <= wide and 0 <= y and y + height <= high and width > 0, (x, y, width, height)
        assert re.fullmatch(r"[0-9.e+]+ us", label.text), label.text
        assert abs(float(label.get("x")) + 1 - x) < 0.2 and y + height < float(label.get("y")) < high, label.attrib
    assert max(height for _, _, _, height in sizes) == 150, sizes
    times = [float(label.text.split()[0]) for label in labels]
    assert all(1.8 < b / a < 2.2 for a, b in zip(times, times[1:])), times


for name in sys.argv[1:]:
    check(name)
    print(name, "has bars and labels")
