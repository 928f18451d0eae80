"""Serves resumable uploads (tus 1.0.0) at `/files` with litestar-tus or aiohttp-tus, on a free port.

    tus_app.py litestar|aiohttp FD FOLDER

The port's number is written to the given file descriptor. An upload that has ended is the file `FOLDER/uploads/ID`, where
ID is the last segment of its URL. `FOLDER/requests.log` contains one line for each request: method, path,
Upload-Offset, Content-Length (`-` if absent) and status, 0 if there was no response.
"""

import logging
import os
import socket
import sys
from pathlib import Path

LIMIT = 4 << 30
logging.disable(logging.CRITICAL)  # clients that disconnect are part of the tests


class Log:
    def __init__(self, folder):
        self.file = open(folder / "requests.log", "a", buffering=1, encoding="utf-8")

    def add(self, method, path, fields, status):
        values = [fields.get(name, "-") for name in ("upload-offset", "content-length")]
        self.file.write(" ".join([method, path, *values, str(status)]) + "\n")


def run_litestar(listener, folder, log):
    import uvicorn
    from litestar import Litestar
    from litestar_tus import TUSConfig, TUSPlugin

    tus = Litestar(plugins=[TUSPlugin(TUSConfig(upload_dir=folder / "uploads", max_size=LIMIT))],
                   request_max_body_size=LIMIT)

    async def app(scope, receive, send):
        status = 0

        def add():
            fields = {name.decode(): value.decode() for name, value in scope["headers"]}
            log.add(scope["method"], scope["path"], fields, status)

        async def sent(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add()  # before the client can know of the response
            await send(message)

        try:
            await tus(scope, receive, sent)
        finally:
            if scope["type"] == "http" and status == 0:
                add()

    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


def run_aiohttp(listener, folder, log):
    from aiohttp import web
    from aiohttp_tus import setup_tus

    async def named_by_id(_, resource, path):
        os.rename(path, folder / "uploads" / resource.uid)

    @web.middleware
    async def logged(request, handler):
        status = 0
        try:
            response = await handler(request)
            status = response.status
            return response
        except web.HTTPException as error:
            status = error.status
            raise
        finally:
            fields = {name.lower(): value for name, value in request.headers.items()}
            log.add(request.method, request.path, fields, status)

    app = web.Application(client_max_size=LIMIT, middlewares=[logged])
    # The name that a client gives to its file is only the name until the upload ends, but it must not be taken.
    setup_tus(app, upload_path=folder / "uploads", upload_url="/files", on_upload_done=named_by_id)
    web.run_app(app, sock=listener, print=None, access_log=None, shutdown_timeout=1)


def main():
    name, announcing, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    (folder / "uploads").mkdir()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    with os.fdopen(announcing, "w") as pipe:
        pipe.write(f"{listener.getsockname()[1]}\n")
    run = {"litestar": run_litestar, "aiohttp": run_aiohttp}[name]
    run(listener, folder, Log(folder))


if __name__ == "__main__":
    main()
