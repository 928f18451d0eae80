"""Reads multipart content (bodies) with three independent parsers, for tests of the content that Apus sends.

A POST to `/multipart/email`, `/multipart/werkzeug` or `/multipart/python-multipart` returns a list of parts as JSON:
name, file name, media type, length and SHA-256 of each. The content is only held in memory by `email`.
"""

import email.parser
import email.policy
import hashlib
import json
import tempfile

import python_multipart
import werkzeug.formparser


def described(name, file_name, media_type, data):
    return {"name": name, "fileName": file_name, "type": media_type, "length": len(data),
            "sha256": hashlib.sha256(data).hexdigest(), "text": data.decode("utf-8", "replace") if len(data) < 1000 else None}


def by_email(environ, stream):
    head = f"Content-Type: {environ['CONTENT_TYPE']}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + stream.read())
    if message.defects or not message.is_multipart():
        raise ValueError(f"not multipart: {message.defects}")
    parts = []
    for part in message.iter_parts():
        disposition = part["Content-Disposition"]
        name = disposition.params.get("name") if disposition else None
        media_type = part.get_content_type() if part["Content-Type"] else None
        data = part.as_bytes() if part.is_multipart() else part.get_payload(decode=True)
        parts.append(described(name, part.get_filename(), media_type, data))
    return parts


def by_werkzeug(environ, stream):
    _, form, files = werkzeug.formparser.parse_form_data({**environ, "wsgi.input": stream}, silent=False)
    parts = [described(name, None, None, value.encode()) for name, value in form.items(multi=True)]
    for name, file in files.items(multi=True):
        parts.append(described(name, file.filename, file.mimetype, file.read()))
    return parts


def by_python_multipart(environ, stream):
    parts = []

    def on_field(field):
        parts.append(described(field.field_name.decode(), None, None, field.value or b""))

    def on_file(file):
        file.file_object.seek(0)
        parts.append(described(file.field_name.decode(), file.file_name.decode(), file.content_type and file.content_type,
                               file.file_object.read()))

    headers = {"Content-Type": environ["CONTENT_TYPE"].encode()}
    python_multipart.parse_form(headers, stream, on_field, on_file)
    return parts


PARSERS = {"email": by_email, "werkzeug": by_werkzeug, "python-multipart": by_python_multipart}


def app(environ, start_response):
    try:
        parser = PARSERS[environ["PATH_INFO"].rsplit("/", 1)[-1]]
        with tempfile.TemporaryFile() as stream:
            while piece := environ["wsgi.input"].read(1 << 20):
                stream.write(piece)
            length = stream.tell()
            stream.seek(0)
            status, answer = "200 OK", parser({**environ, "CONTENT_LENGTH": str(length)}, stream)
    except Exception as error:  # pylint: disable=broad-except  # whatever a parser says against the content
        status, answer = "400 Bad Request", {"error": repr(error)}
    content = json.dumps(answer).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]
