"""Serves httpbin, and parsers of multipart content below `/multipart`, with waitress on a free port.

The port's number is written to the given file descriptor.
"""

import logging
import os
import sys

logging.disable(logging.WARNING)  # httpbin warns of missing optional parts

import waitress
from httpbin import app as httpbin

import multipart_app


def app(environ, start_response):
    chosen = multipart_app.app if environ["PATH_INFO"].startswith("/multipart/") else httpbin
    return chosen(environ, start_response)


def main():
    server = waitress.create_server(app, host="127.0.0.1", port=0, threads=8)
    with os.fdopen(int(sys.argv[1]), "w") as pipe:
        pipe.write(f"{server.effective_port}\n")
    server.run()


if __name__ == "__main__":
    main()
