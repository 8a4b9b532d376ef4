# SPDX-License-Identifier: BSD-3-Clause
"""Writes tables into the pages in docs/."""


def fill_page(path, name, lines):
    """Replaces what stands in the page between the marks of that name, by the lines."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    with open(path) as file:
        before, rest = file.read().split(begin)
    with open(path, "w") as file:
        file.write(before + begin + "".join(f"{line}\n" for line in lines) + end + rest.split(end)[1])
