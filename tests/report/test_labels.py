"""Colours of methods are told apart with every common kind of colour-blindness."""

from itertools import combinations

import numpy as np
import pytest

from budgetbench.report.labels import MARKERS, PALETTE, Display

# Linear RGB as it is seen by those who lack a kind of cone (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = (0.9505, 1, 1.089)


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Return a linear colour in CIELAB, where a distance of 2.3 is just seen."""
    ratio = TO_XYZ @ rgb / WHITE
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", SEEN)
def test_colours_are_told_apart(kind):
    seen = [lab(np.clip(SEEN[kind] @ linear(colour), 0, 1)) for colour in PALETTE]
    assert min(np.linalg.norm(first - other) for first, other in combinations(seen, 2)) > 15


def test_each_colour_has_a_marker_of_its_own():
    assert len(set(MARKERS)) == len(MARKERS) == len(PALETTE)


def test_the_best_of_many_methods_do_not_share_a_colour():
    methods = {f"m{i}": {} for i in range(20)}
    ranked = ["m19", "m3", "m10", "m17", "m0", "m5", "m12"]
    display = Display(methods, {}, ranked)
    assert [display.methods[name].colour for name in ranked] == list(PALETTE)
    assert list(display.methods) == list(methods)
    looks = {(m.colour, m.marker, m.line) for m in display.methods.values()}
    assert len(looks) == len(methods)
