"""Counts the lines, words and characters of text files.

Usage: count.py FILE...
"""

import sys


def count(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return len(text.splitlines()), len(text.split()), len(text)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    print("| file | lines | words | characters |\n|---|--:|--:|--:|")
    for name in sys.argv[1:]:
        try:
            lines, words, characters = count(name)
        except OSError as error:
            sys.exit(f"cannot read {name}: {error.strerror}")
        print(f"| {name} | {lines} | {words} | {characters} |")


main()
