"""Serves the resources of the HTTP/2 tests with hypercorn, over TLS and cleartext, on free ports.

    asgi_app.py FD FOLDER

The ports are written to the given file descriptor as JSON. The certificate is `FOLDER/server.pem`.
"""

import asyncio
import gzip
import json
import os
import socket
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config

import resources


async def content(receive):
    """The pieces of the request's content."""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


async def respond(send, status=200, fields=(), body=b"", trailers=()):
    await send({"type": "http.response.start", "status": status, "headers": list(fields), "trailers": bool(trailers)})
    await send({"type": "http.response.body", "body": body})
    if trailers:
        await send({"type": "http.response.trailers", "headers": list(trailers)})


async def echo(receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    async for piece in content(receive):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def big(send):
    fields = [(b"content-length", b"%d" % resources.BIG)]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    for piece in resources.big():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def events(send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for event in resources.events():
        await send({"type": "http.response.body", "body": event, "more_body": True})
        await asyncio.sleep(0.02)
    await send({"type": "http.response.body", "body": b""})


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    path, fields = scope["path"], dict(scope["headers"])
    if path == "/echo":
        return await echo(receive, send)
    async for _ in content(receive):
        pass
    text = resources.text()
    if path == "/film.json":
        await respond(send, 200, [(b"content-type", b"application/json")], resources.JSON)
    elif path == "/big":
        await big(send)
    elif path == "/list.events":
        await events(send)
    elif path == "/nothing":
        await respond(send, 204)
    elif path == "/early":
        await send({"type": "http.response.early_hint", "links": [b"</style.css>; rel=preload"]})
        await respond(send, 200, [], b"early\n")
    elif path == "/trailers":
        await respond(send, 200, [(b"trailer", b"x-end")], b"text\n", [(b"x-end", b"yes")])
    elif path == "/zipped.txt":
        if b"gzip" in fields.get(b"accept-encoding", b""):
            await respond(send, 200, [(b"content-encoding", b"gzip")], gzip.compress(text))
        else:
            await respond(send, 200, [], text)
    elif path == "/text.txt" and fields.get(b"if-none-match") == resources.TAG:
        await respond(send, 304, [(b"etag", resources.TAG)])
    elif path == "/text.txt":
        described = [(b"content-type", b"text/plain"), (b"etag", resources.TAG), (b"content-length", b"%d" % len(text))]
        await respond(send, 200, described, b"" if scope["method"] == "HEAD" else text)
    else:
        await respond(send, 404)


def listening():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(512)
    return listener


def main():
    announcing, folder = int(sys.argv[1]), sys.argv[2]
    secure, plain = listening(), listening()
    config = Config()
    config.bind = [f"fd://{secure.fileno()}"]
    config.insecure_bind = [f"fd://{plain.fileno()}"]
    config.certfile, config.keyfile = os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")
    config.h2_max_concurrent_streams = 1000
    config.keep_alive_timeout = 300
    config.loglevel = "CRITICAL"
    ports = {"tls": secure.getsockname()[1], "plain": plain.getsockname()[1]}
    with os.fdopen(announcing, "w") as pipe:
        pipe.write(json.dumps(ports) + "\n")
    asyncio.run(serve(app, config, shutdown_trigger=lambda: asyncio.Event().wait()))


if __name__ == "__main__":
    main()
