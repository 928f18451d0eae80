"""The resources that the servers of the HTTP/2 tests have in common."""

BIG = 100 << 20
JSON = b'{"title":"Alien","year":1979}'
TAG = b'"one"'
EVENTS = 40


def text():
    return "".join(f"line {number} of a text that is longer than one piece\n" for number in range(2000)).encode()


def big(size=BIG):
    """Pieces of content: the bytes 0 to 250, repeated."""
    piece = bytes(range(251)) * 1024
    while size > 0:
        yield piece if size >= len(piece) else piece[:size]
        size -= len(piece)


def events():
    """Events of a stream."""
    for number in range(EVENTS):
        yield f"id: {number}\ndata: event {number}\n\n".encode()
