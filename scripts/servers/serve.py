#!/usr/bin/env python3
"""Runs one third-party server for the tests, on loopback, until its standard input is closed.

    serve.py nginx|squid|httpbin|registry|datasette|litestar-tus|aiohttp-tus|seaweedfs|swift|moto|oauth
    serve.py nginx-http2|nghttpd|h2o|h2|hypercorn
    serve.py haproxy|varnish PORT     in front of a server that listens on this port of 127.0.0.1

Prints one line when the server is ready, `ready {"ports": {...}, "folder": "..."}`, or `failed WHY`. The server reads
and writes only in its own temporary folder, which is removed at the end. It ends when its standard input is closed, and
so however the tests end, or when this process gets a signal or its parent ends.

A free port is found by binding port 0 and closing it; if another process takes the port meanwhile, the server fails to
start, and other ports are tried. Runs as any user; as root it starts servers that refuse root as another user.
"""

import base64
import ctypes
import hashlib
import http.client
import json
import os
import pwd
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib

import resources

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Where install-from-pypi installs packages.
PYPI = os.path.join(ROOT, ".build-servers", "pypi")
SECONDS_TO_START = 60
TRIES = 5
BIG = 256 << 20


class Failed(Exception):
    """The reason why a server could not be started."""


def program(name):
    path = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin:/usr/local/sbin")
    if path is None:
        raise Failed(f"{name} is not installed")
    return path


def free_ports(names):
    """A free port for each name."""
    sockets = {name: socket.socket() for name in names}
    try:
        for it in sockets.values():
            it.bind(("127.0.0.1", 0))
        return {name: it.getsockname()[1] for name, it in sockets.items()}
    finally:
        for it in sockets.values():
            it.close()


def filled(template, values):
    with open(os.path.join(HERE, template), encoding="utf-8") as file:
        text = file.read()
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def openssl(folder, *arguments):
    done = subprocess.run([program("openssl"), *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("openssl: " + done.stderr.strip())
    return done.stdout.strip()


def ends_with_parent(user=None):
    """The set-up of a child before it runs the server: it gets SIGTERM when this process ends."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare():
        if user is not None:
            os.setgroups([])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
        if libc is not None:  # after the change of user, which would undo it
            libc.prctl(1, signal.SIGTERM)

    return prepare


# MARK: nginx

NGINX_PORTS = ["plain", "short", "closing", "backend", "tls12", "tls13", "mutual"]


def make_authority(folder):
    """Makes a certificate authority, a server certificate for localhost and 127.0.0.1, and a client certificate."""
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test", "-addext", "keyUsage=critical,keyCertSign")
    write(folder, "names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", "names", "-out", name + ".pem")


def make_passwords(folder, name, passwords):
    """Writes a file of test users and passwords in UTF-8, as salted SHA-1, which every nginx supports."""
    lines = []
    for user, password in passwords.items():
        salt = os.urandom(8)
        digest = hashlib.sha1(password.encode() + salt).digest()
        lines.append(user + ":{SSHA}" + base64.b64encode(digest + salt).decode() + "\n")
    write(folder, name, "".join(lines))


def make_files(folder):
    """Makes small files and a big sparse one, with data at every sixteenth MiB and holes in between."""
    files = os.path.join(folder, "files")
    os.makedirs(os.path.join(folder, "stored"))
    os.makedirs(os.path.join(folder, "cached"))
    os.makedirs(files)
    lines = (f"line {number} of a text that is longer than one piece\n" for number in range(2000))
    write(files, "text.txt", "".join(lines))
    write(files, "empty.txt", b"")
    checksum, mark = 0, bytes(range(256))
    rest = bytes((16 << 20) - len(mark))
    with open(os.path.join(files, "big"), "wb") as file:
        for start in range(0, BIG, 16 << 20):
            file.seek(start)
            file.write(mark)
            checksum = zlib.crc32(rest, zlib.crc32(mark, checksum))
        file.truncate(BIG)
    return {"big": BIG, "checksum": checksum}


def nginx(folder):
    make_authority(folder)
    facts = make_files(folder)
    write(folder, "htpasswd", "user:" + openssl(folder, "passwd", "-apr1", "secret") + "\n")
    make_passwords(folder, "apus.htpasswd", {"ada": "for apus", "zoë": "pässwörd €"})
    make_passwords(folder, "other.htpasswd", {"bob": "for other"})
    os.makedirs(os.path.join(folder, "logs"))
    for _ in range(TRIES):
        ports = free_ports(NGINX_PORTS)
        user = "user root;" if os.geteuid() == 0 else ""
        values = {"folder": folder, "user": user, **ports}
        write(folder, "places.conf", filled("nginx-places.conf", values))
        write(folder, "cached.conf", filled("nginx-cached.conf", values))
        config = write(folder, "nginx.conf", filled("nginx.conf", values))
        pid = os.path.join(folder, "nginx.pid")
        child = subprocess.Popen([program("nginx"), "-p", folder, "-e", "logs/error.log", "-c", config],
                                 stdin=subprocess.DEVNULL, stdout=2, preexec_fn=ends_with_parent())
        # nginx writes this file once it listens on all ports.
        if waited(child, lambda: os.path.exists(pid) and os.path.getsize(pid) > 0):
            return child, ports, facts
    raise Failed("nginx did not start: " + tail(folder, "logs/error.log"))


# MARK: HTTP/2

def make_resources(folder):
    """Makes the files of resources.py, and a certificate."""
    make_authority(folder)
    files = os.path.join(folder, "files")
    os.makedirs(files)
    write(files, "film.json", resources.JSON)
    write(files, "trailers", "text\n")
    write(files, "text.txt", resources.text())
    write(files, "list.events", b"".join(resources.events()))
    with open(os.path.join(files, "big"), "wb") as file:
        file.writelines(resources.big())


def started(name, folder, command, ports, is_ready=None, errors=None):
    """Starts a program with a function that returns its arguments for free ports."""
    for _ in range(TRIES):
        chosen = free_ports(ports)
        child = subprocess.Popen([program(name), *command(chosen)], stdin=subprocess.DEVNULL, stdout=2, stderr=errors,
                                 cwd=folder, preexec_fn=ends_with_parent())
        if waited(child, is_ready or (lambda: all(accepts(port) for port in chosen.values()))):
            return child, chosen, {}
    raise Failed(f"{name} did not start")


def nginx_http2(folder):
    make_resources(folder)
    for name in ("logs", "cached"):
        os.makedirs(os.path.join(folder, name))
    user = "user root;" if os.geteuid() == 0 else ""

    def command(ports):
        values = {"folder": folder, "user": user, **ports}
        write(folder, "http2-places.conf", filled("nginx-http2-places.conf", values))
        write(folder, "cached.conf", filled("nginx-cached.conf", values))
        config = write(folder, "nginx.conf", filled("nginx-http2.conf", values))
        return ["-p", folder, "-e", "logs/error.log", "-c", config]

    # nginx writes this file once it listens on all ports.
    pid = os.path.join(folder, "nginx.pid")
    return started("nginx", folder, command, ["plain", "tls", "tls12", "tls13", "short", "http1", "backend"],
                   lambda: os.path.exists(pid) and os.path.getsize(pid) > 0)


def nghttpd(folder):
    """nghttp2's server: pads frames, sends trailers and returns content."""
    make_resources(folder)
    types = write(folder, "types", "application/json json\ntext/plain txt\ntext/event-stream events\n")
    return started("nghttpd", folder, lambda ports: [
        "--address=127.0.0.1", "--htdocs=files", "--max-concurrent-streams=1000", "--padding=64", "--echo-upload",
        "--trailer=x-end: yes", "--mime-types-file=" + types, str(ports["tls"]), "server.key", "server.pem"], ["tls"])


def h2o(folder):
    make_resources(folder)
    user = "user: root" if os.geteuid() == 0 else ""

    def command(ports):
        values = {"folder": folder, "user": user, **ports}
        return ["-c", write(folder, "h2o.yaml", filled("h2o.yaml", values))]

    return started("h2o", folder, command, ["plain", "tls"])


def haproxy(folder, backend):
    make_authority(folder)
    with open(os.path.join(folder, "server.pem"), "rb") as certificate, \
            open(os.path.join(folder, "server.key"), "rb") as key:
        write(folder, "both.pem", certificate.read() + key.read())

    def command(ports):
        values = {"folder": folder, "backend": backend, **ports}
        return ["-db", "-f", write(folder, "haproxy.cfg", filled("haproxy.cfg", values))]

    return started("haproxy", folder, command, ["plain", "tls"])


def h2(folder):
    """A server made with the Python library h2."""
    make_authority(folder)
    return *application("h2", folder, "h2_app.py", [], [folder]), {}


def hypercorn(folder):
    make_authority(folder)
    return *application("hypercorn", folder, "asgi_app.py", [], [folder]), {}


# MARK: varnish

def varnish(folder, backend):
    """A cache for many clients, over HTTP/1.1 and cleartext HTTP/2."""
    config = write(folder, "varnish.vcl", filled("varnish.vcl", {"backend": backend}))
    # Without a jail, because another user could not read the folder.
    return started("varnishd", folder, lambda ports: [
        "-F", "-j", "none", "-n", os.path.join(folder, "work"), "-a", f"127.0.0.1:{ports['plain']}", "-f", config,
        "-s", "malloc,16m", "-T", "none", "-p", "feature=+http2", "-p", "thread_pools=1", "-p", "thread_pool_min=20",
        "-p", "vsl_space=2M"], ["plain"], errors=subprocess.DEVNULL)  # reports on its start


# MARK: squid

def squid(folder):
    helper = next((it for it in ("/usr/lib/squid/basic_ncsa_auth", "/usr/libexec/squid/basic_ncsa_auth",
                                 "/usr/lib64/squid/basic_ncsa_auth") if os.path.exists(it)), None)
    if helper is None:
        program("squid")
        raise Failed("squid has no basic_ncsa_auth")
    user = pwd.getpwnam("proxy") if os.geteuid() == 0 else None
    write(folder, "passwd", "user:" + openssl(folder, "passwd", "-apr1", "secret") + "\n")
    os.chmod(folder, 0o755)
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    for attempt in range(TRIES):
        ports = free_ports(["open", "guarded", "refused"])
        log = os.path.join(folder, f"cache-{attempt}.log")
        values = {"folder": folder, "helper": helper, "log": log, "service": f"apus{os.getpid()}", **ports}
        config = write(folder, "squid.conf", filled("squid.conf", values))
        child = subprocess.Popen([program("squid"), "-N", "-f", config, "-n", values["service"]],
                                 stdin=subprocess.DEVNULL, stdout=2, cwd=folder, preexec_fn=ends_with_parent(user))
        if waited(child, lambda: tail(folder, log, 1 << 20).count("Accepting HTTP Socket connections") == 2):
            return child, ports, {}
    raise Failed("squid did not start: " + tail(folder, log))


# MARK: httpbin

def application(name, folder, script, before=(), after=()):
    """Starts a script of this folder that takes a free port itself, and writes its number to a file descriptor."""
    if not os.path.isdir(PYPI):
        raise Failed(f"{name} is not installed")
    reading, writing = os.pipe()
    environment = dict(os.environ, PYTHONPATH=PYPI, PYTHONDONTWRITEBYTECODE="1", TMPDIR=folder)
    child = subprocess.Popen([sys.executable, os.path.join(HERE, script), *before, str(writing), *after],
                             stdin=subprocess.DEVNULL, stdout=2, cwd=folder, env=environment, pass_fds=[writing],
                             preexec_fn=ends_with_parent())
    os.close(writing)
    with os.fdopen(reading) as pipe:
        line = pipe.readline()
    if not line:
        stop(child)
        raise Failed(f"{name} did not start")
    ports = json.loads(line)
    return child, {"plain": ports} if isinstance(ports, int) else ports


def httpbin(folder):
    return *application("httpbin", folder, "httpbin_app.py"), {}


# MARK: tus

def litestar_tus(folder):
    """Resumable uploads: what has arrived of an interrupted request is kept."""
    return *application("litestar-tus", folder, "tus_app.py", ["litestar"], [folder]), {}


def aiohttp_tus(folder):
    """Resumable uploads: what has arrived of an interrupted request is discarded."""
    return *application("aiohttp-tus", folder, "tus_app.py", ["aiohttp"], [folder]), {}


# MARK: OAuth

def oauth(folder):
    """An authorization server and an API."""
    return *application("oauth", folder, "oauth_app.py"), {}


# MARK: docker-registry

def registry(folder):
    """A registry of container images: uploads in chunks, relative links."""
    for _ in range(TRIES):
        ports = free_ports(["plain"])
        config = write(folder, "registry.json", json.dumps({
            "version": 0.1, "log": {"level": "error", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": os.path.join(folder, "storage")}, "delete": {"enabled": True}},
            "http": {"addr": f"127.0.0.1:{ports['plain']}", "relativeurls": True}}))
        child = subprocess.Popen([program("docker-registry"), "serve", config], stdin=subprocess.DEVNULL, stdout=2,
                                 cwd=folder, preexec_fn=ends_with_parent())
        if waited(child, lambda: accepts(ports["plain"])):
            return child, ports, {}
    raise Failed("docker-registry did not start")


# MARK: datasette

ROWS = 95


def datasette(folder):
    """A web API over a database with a table of 95 rows: absolute links."""
    if not os.path.isdir(PYPI):
        raise Failed("datasette is not installed")
    path = os.path.join(folder, "data.db")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT)")
        database.executemany("INSERT INTO films VALUES (?, ?)", [(it, f"Film {it}") for it in range(1, ROWS + 1)])
    database.close()
    environment = dict(os.environ, PYTHONPATH=PYPI, PYTHONDONTWRITEBYTECODE="1", HOME=folder)
    for _ in range(TRIES):
        ports = free_ports(["plain"])
        child = subprocess.Popen([sys.executable, "-m", "datasette", "serve", path, "--host", "127.0.0.1", "--port",
                                  str(ports["plain"])], stdin=subprocess.DEVNULL, stdout=2, stderr=subprocess.DEVNULL,
                                 cwd=folder, env=environment, preexec_fn=ends_with_parent())
        if waited(child, lambda: accepts(ports["plain"])):
            return child, ports, {}
    raise Failed("datasette did not start")


# MARK: S3

def seaweedfs(folder):
    """SeaweedFS with its S3 API, over http and https. The access key is `test:tester`, the secret `testing`."""
    weed = os.path.join(PYPI, "bin", "weed")
    if not os.path.exists(weed):
        raise Failed("seaweedfs is not installed")
    config = write(folder, "s3.json", json.dumps({"identities": [{
        "name": "tester", "credentials": [{"accessKey": "test:tester", "secretKey": "testing"}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}))
    make_authority(folder)
    data = os.path.join(folder, "data")
    os.makedirs(data)
    parts = ["master", "volume", "filer", "s3"]
    for _ in range(TRIES):
        ports = free_ports(parts + ["https"] + [part + ".grpc" for part in parts])
        options = [f"-{part}.port={ports[part]}" for part in parts]
        options += [f"-{part}.port.grpc={ports[part + '.grpc']}" for part in parts]
        child = subprocess.Popen(
            [weed, "-logtostderr=false", f"-logdir={folder}", "server", f"-dir={data}", "-ip=127.0.0.1",
             "-ip.bind=127.0.0.1", "-filer", "-s3", f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0",
             f"-s3.port.https={ports['https']}", f"-s3.cert.file={os.path.join(folder, 'server.pem')}",
             f"-s3.key.file={os.path.join(folder, 'server.key')}", "-volume.max=200",
             "-master.volumeSizeLimitMB=1024", "-master.telemetry=false", *options],
            stdin=subprocess.DEVNULL, stdout=2, stderr=subprocess.DEVNULL, cwd=folder, env=dict(os.environ, HOME=folder),
            preexec_fn=ends_with_parent())
        if waited(child, lambda: responds(ports["s3"]) and accepts(ports["https"])):
            return child, {"plain": ports["s3"], "tls": ports["https"]}, {}
    raise Failed("seaweedfs did not start")


def swift(folder):
    """OpenStack Swift with its S3 API."""
    return *application("swift", folder, "swift_app.py", [], [folder]), {}


def moto(folder):
    """moto with S3 and STS, whose signatures botocore verifies."""
    return *application("moto", folder, "moto_app.py"), {}


def responds(port):
    """Whether a server responds to a request with another status than that of a server that starts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


# MARK: Running

def accepts(port):
    """Whether a server listens on a port of 127.0.0.1."""
    with socket.socket() as it:
        it.settimeout(1)
        return it.connect_ex(("127.0.0.1", port)) == 0



def waited(child, is_ready):
    """Whether the server became ready; otherwise it is stopped."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if child.poll() is not None:
            return False
        if is_ready():
            return True
        time.sleep(0.02)
    stop(child)
    return False


def tail(folder, name, count=2000):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - count))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def stop(child):
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def hold(child, parent):
    """Waits until standard input, the parent or the server ends."""
    while os.getppid() == parent and child.poll() is None:
        readable, _, _ = select.select([0], [], [], 1)
        if readable and not os.read(0, 4096):
            return


def end(*_):
    raise SystemExit(0)


def main():
    # Read before the server is announced as ready: the parent may end right after that.
    parent = os.getppid()
    # A parent thread may block signals, and this process and the server would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, and their end ends this process
    name, arguments = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    start = {"nginx": nginx, "squid": squid, "httpbin": httpbin, "registry": registry,
             "datasette": datasette, "litestar-tus": litestar_tus, "aiohttp-tus": aiohttp_tus,
             "seaweedfs": seaweedfs, "swift": swift, "moto": moto, "oauth": oauth,
             "nginx-http2": nginx_http2, "nghttpd": nghttpd, "h2o": h2o, "haproxy": haproxy, "h2": h2,
             "hypercorn": hypercorn, "varnish": varnish}.get(name)
    if start is None or len(arguments) != (1 if name in ("haproxy", "varnish") else 0):
        sys.exit(__doc__)
    folder = os.path.realpath(tempfile.mkdtemp(prefix=f"apus-{name}-"))
    child = None
    try:
        child, ports, facts = start(folder, *arguments)
        print("ready " + json.dumps({"ports": ports, "folder": folder, **facts}), flush=True)
        hold(child, parent)
    except Failed as failure:
        print("failed " + " ".join(str(failure).split()), flush=True)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if child is not None:
            stop(child)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
