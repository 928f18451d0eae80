"""Uploads a file with aiotus, an independent client of tus 1.0.0, for comparison. Prints the URL of the upload.

    aiotus_upload.py URL FILE
"""

import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build-servers", "pypi"))

import aiotus


def main():
    url, path = sys.argv[1:]
    with open(path, "rb") as file:
        location = asyncio.run(aiotus.upload(url, file, metadata={"filename": os.path.basename(path).encode()}))
    if location is None:
        sys.exit("aiotus could not upload the file")
    print(location)


if __name__ == "__main__":
    main()
