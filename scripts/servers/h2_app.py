"""A server of HTTP/2 for the tests, made with the library h2, over TLS and cleartext, on free ports.

    h2_app.py FD FOLDER

The ports are written to the given file descriptor as JSON. The certificate is `FOLDER/server.pem`. Beside the resources
of resources.py the server has paths on which it resets streams or sends GOAWAY. The ports:

    plain, tls   1,000 concurrent streams
    single       one concurrent stream
    narrow       a window of 1,000 bytes for the content of requests
    storm        GOAWAY after 500 streams
"""

import asyncio
import gzip
import json
import os
import random
import ssl
import sys
from collections import Counter

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

import resources

STREAMS_IN_A_STORM = 500
TEXT = resources.text()
ZIPPED = gzip.compress(TEXT)
LARGE = bytes(1_500_000)

# How often each call was executed, and which calls were refused once already.
executions = Counter()
refused = set()


class Stream:
    """A request, and the response to it."""

    def __init__(self, number, fields):
        self.number = number
        self.fields = dict(fields)
        self.method = self.fields[b":method"].decode()
        self.path = self.fields[b":path"].decode()
        self.pieces = None  # an iterator
        self.rest = b""
        self.trailers = ()
        self.padding = None
        self.echoed = []
        self.is_over = False  # whether the request is complete
        self.received = 0


class Connection(asyncio.Protocol):
    def __init__(self, settings, streams=None):
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.settings = settings
        self.most = streams  # the number of streams before GOAWAY
        self.streams = {}
        self.last = None  # the last stream of a GOAWAY
        self.latest = 0  # the last stream with a complete request
        self.is_paused = False
        self.has_ended = False

    # MARK: The transport

    def connection_made(self, transport):
        self.transport = transport
        self.h2.initiate_connection()
        # Not with the first SETTINGS: h2 would enforce these before the client can know them.
        self.h2.update_settings(self.settings)
        self.h2.increment_flow_control_window(16 << 20)
        self.flush()

    def connection_lost(self, _):
        self.streams.clear()
        self.has_ended = True

    def pause_writing(self):
        self.is_paused = True

    def resume_writing(self):
        self.is_paused = False
        self.write_content()

    def flush(self):
        data = self.h2.data_to_send()
        if data and not self.has_ended:
            self.transport.write(data)

    def data_received(self, data):
        try:
            events = self.h2.receive_data(data)
        except ProtocolError:
            self.flush()
            return self.transport.close()
        if any(isinstance(event, ConnectionTerminated) for event in events):
            return self.transport.close()  # h2 sends nothing more; clients say goodbye when they need nothing more
        # h2 knows of these resets already, and would refuse to send anything on the streams.
        resets = {event.stream_id for event in events if isinstance(event, StreamReset)}
        for number in resets:
            self.end(number)
        for event in events:
            self.handle(event, resets)
        self.write_content()

    def handle(self, event, resets):
        if isinstance(event, RequestReceived):
            if event.stream_id not in resets:
                self.begin(event.stream_id, event.headers)
        elif isinstance(event, DataReceived):
            self.receive(event)
        elif isinstance(event, StreamEnded):
            stream = self.streams.get(event.stream_id)
            if stream is not None:
                self.complete(stream)

    # MARK: Requests

    def begin(self, number, fields):
        if self.last is not None and number > self.last:
            return
        stream = Stream(number, fields)
        if self.most is not None and number > 2 * self.most:
            # Half of the connections end with a stream that is not executed, the others after it.
            self.say_goodbye(number - 2 if random.random() < 0.5 else number)
            if number > self.last:
                return
        self.streams[number] = stream
        if stream.path == "/echo":
            self.start(stream, pieces=self.echo(stream))

    def receive(self, event):
        stream = self.streams.get(event.stream_id)
        if event.flow_controlled_length > 0:
            self.h2.increment_flow_control_window(event.flow_controlled_length)
        if stream is None:
            return
        stream.received += len(event.data)
        if stream.path == "/echo" and event.data:
            stream.echoed.append(event.data)
        if event.stream_ended is None and event.flow_controlled_length > 0:
            self.h2.increment_flow_control_window(event.flow_controlled_length, event.stream_id)

    def complete(self, stream):
        """Executes a complete request."""
        stream.is_over = True
        self.latest = max(self.latest, stream.number)
        parts = stream.path.split("?")[0].strip("/").split("/")
        act = getattr(self, "do_" + parts[0].replace(".", "_"), None)
        if act is None:
            return self.respond(stream, 404)
        act(stream, *parts[1:])

    def do_echo(self, stream):
        pass  # responded to since the head

    def do_film_json(self, stream):
        self.respond(stream, 200, [(b"content-type", b"application/json")], resources.JSON)

    def do_text_txt(self, stream):
        if stream.fields.get(b"if-none-match") == resources.TAG:
            return self.respond(stream, 304, [(b"etag", resources.TAG)])
        fields = [(b"content-type", b"text/plain"), (b"etag", resources.TAG), (b"content-length", b"%d" % len(TEXT))]
        self.respond(stream, 200, fields, b"" if stream.method == "HEAD" else TEXT)

    def do_zipped_txt(self, stream):
        if b"gzip" in stream.fields.get(b"accept-encoding", b""):
            return self.respond(stream, 200, [(b"content-encoding", b"gzip")], ZIPPED)
        self.respond(stream, 200, [], TEXT)

    def do_nothing(self, stream):
        self.respond(stream, 204)

    def do_big(self, stream):
        self.start(stream, [(b"content-length", b"%d" % resources.BIG)], resources.big())

    def do_padded(self, stream):
        stream.padding = 255
        self.respond(stream, 200, [], TEXT)

    def do_early(self, stream):
        self.h2.send_headers(stream.number, [(b":status", b"103"), (b"link", b"</style.css>; rel=preload")])
        self.respond(stream, 200, [], b"early\n")

    def do_trailers(self, stream):
        stream.trailers = [(b"x-end", b"yes")]
        self.respond(stream, 200, [], b"text\n")

    def do_list_events(self, stream):
        self.start(stream, [(b"content-type", b"text/event-stream")], iter(()))
        stream.pieces = None
        asyncio.ensure_future(self.send_events(stream))

    async def send_events(self, stream):
        for event in resources.events():
            stream.rest += event
            self.write_content()
            await asyncio.sleep(0.02)
        stream.pieces = iter(())
        self.write_content()

    def do_executions(self, stream):
        """How often each call was executed since the last such request."""
        content = json.dumps([[int(number), count] for number, count in executions.items()]).encode()
        executions.clear()
        refused.clear()
        self.respond(stream, 200, [(b"content-type", b"application/json")], content)

    # MARK: Failures

    def do_reset(self, stream, code, content=None):
        """Resets the stream with a code, before the head or after the head and some content."""
        if content is not None:
            self.h2.send_headers(stream.number, [(b":status", b"200")])
            self.h2.send_data(stream.number, content.encode())
        self.reset(stream, int(code))

    def do_refused(self, stream, call):
        """Refuses the call once."""
        if call not in refused:
            refused.add(call)
            return self.reset(stream, ErrorCodes.REFUSED_STREAM)
        self.execute(stream, call)

    def do_unprocessed(self, stream, call):
        """Sends GOAWAY once, with the stream before this one as the last, unless later ones were executed."""
        if call not in refused and self.latest == stream.number:
            refused.add(call)
            return self.say_goodbye(stream.number - 2)
        self.execute(stream, call)

    def do_farewell(self, stream, call):
        """Sends GOAWAY with this stream as the last, and then the response."""
        self.say_goodbye(stream.number)
        self.execute(stream, call)

    def do_executed(self, stream, call):
        """Executes the call, and resets the stream instead of responding."""
        executions[call] += 1
        self.reset(stream, ErrorCodes.INTERNAL_ERROR)

    def do_cut(self, stream, call):
        """Executes the call, and resets the stream in its content."""
        executions[call] += 1
        self.h2.send_headers(stream.number, [(b":status", b"200"), (b"content-length", b"10")])
        self.h2.send_data(stream.number, b"half")
        self.reset(stream, ErrorCodes.INTERNAL_ERROR)

    def do_silent(self, stream, call):
        """Executes the call, and never responds."""
        executions[call] += 1

    def do_call(self, stream, call):
        self.execute(stream, call)

    def do_large(self, stream, call):
        executions[call] += 1
        self.respond(stream, 200, [], LARGE)

    def execute(self, stream, call):
        executions[call] += 1
        self.respond(stream, 200, [], b"%d" % stream.received)

    def reset(self, stream, code):
        self.h2.reset_stream(stream.number, code)
        self.end(stream.number)

    def say_goodbye(self, last):
        if self.last is None:
            # h2 sends nothing more after its own GOAWAY, not even what it owes to earlier streams.
            self.flush()
            self.last = max(last, 0)
            self.transport.write(GoAwayFrame(0, last_stream_id=self.last).serialize())
            for number in [number for number in self.streams if number > self.last]:
                self.end(number)

    # MARK: Responses

    def respond(self, stream, status, fields=(), content=b""):
        if not content and not stream.trailers:
            self.h2.send_headers(stream.number, [(b":status", b"%d" % status), *fields], end_stream=True)
            return self.end(stream.number)
        self.start(stream, fields, iter([content]), status)

    def start(self, stream, fields=(), pieces=None, status=200):
        self.h2.send_headers(stream.number, [(b":status", b"%d" % status), *fields])
        stream.pieces = pieces

    def echo(self, stream):
        """The pieces that have arrived; empty ones while there are none."""
        while stream.echoed or not stream.is_over:
            pieces, stream.echoed = b"".join(stream.echoed), []
            yield pieces

    def write_content(self):
        """Sends content as far as the windows and the transport permit, and ends the connection if that was all."""
        for stream in list(self.streams.values()):
            if stream.pieces is not None or stream.rest:
                self.write_stream(stream)
        self.flush()
        if self.last is not None and not self.streams:
            self.finish_connection()

    def finish_connection(self):
        """Ends the connection after all responses. A close with unread bytes of the client would reset the connection,
        and the client could lose responses that are on their way."""
        if self.transport.can_write_eof():
            if not self.has_ended:
                self.has_ended = True
                self.transport.write_eof()
        else:
            self.transport.close()

    def write_stream(self, stream):
        while not self.is_paused:
            if not stream.rest:
                if stream.pieces is None:
                    return
                piece = next(stream.pieces, None)
                if piece is None:
                    return self.finish(stream)
                if not piece:
                    return
                stream.rest = piece
            if not self.write_piece(stream):
                return
            self.flush()

    def write_piece(self, stream):
        extra = 0 if stream.padding is None else stream.padding + 1
        room = min(self.h2.local_flow_control_window(stream.number), self.h2.max_outbound_frame_size) - extra
        if room <= 0:
            return False
        self.h2.send_data(stream.number, stream.rest[:room], pad_length=stream.padding)
        stream.rest = stream.rest[room:]
        return True

    def finish(self, stream):
        if stream.trailers:
            self.h2.send_headers(stream.number, stream.trailers, end_stream=True)
        else:
            self.h2.end_stream(stream.number)
        self.end(stream.number)

    def end(self, number):
        self.streams.pop(number, None)


async def run(announcing, folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
    context.set_alpn_protocols(["h2"])
    usual = {SettingCodes.MAX_CONCURRENT_STREAMS: 1000, SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20}
    single = {**usual, SettingCodes.MAX_CONCURRENT_STREAMS: 1}
    narrow = {**usual, SettingCodes.INITIAL_WINDOW_SIZE: 1000}
    ports, servers = {}, []
    for name, settings, streams, secure in (
            ("plain", usual, None, None), ("tls", usual, None, context), ("single", single, None, None),
            ("narrow", narrow, None, None), ("storm", usual, STREAMS_IN_A_STORM, None)):
        make = lambda settings=settings, streams=streams: Connection(settings, streams)  # noqa: E731
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0, ssl=secure, backlog=512)
        ports[name] = server.sockets[0].getsockname()[1]
        servers.append(server)
    with os.fdopen(announcing, "w") as pipe:
        pipe.write(json.dumps(ports) + "\n")
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), sys.argv[2]))
