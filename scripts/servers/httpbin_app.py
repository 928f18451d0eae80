"""Serves httpbin with waitress on a free port, whose number is written to the given file descriptor."""

import logging
import os
import sys

logging.disable(logging.WARNING)  # httpbin warns of missing optional parts

import waitress
from httpbin import app


def main():
    server = waitress.create_server(app, host="127.0.0.1", port=0, threads=8)
    with os.fdopen(int(sys.argv[1]), "w") as pipe:
        pipe.write(f"{server.effective_port}\n")
    server.run()


if __name__ == "__main__":
    main()
