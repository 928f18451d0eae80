#!/usr/bin/env python3
"""OpenStack Swift with its S3 API: proxy, account, container and object server in one process, on loopback.

    swift_app.py FILE_DESCRIPTOR FOLDER

Writes the port of the proxy to the file descriptor. The user is `test:tester` with the secret `testing`.
"""

import warnings

warnings.filterwarnings("ignore")  # of the age of eventlet

import eventlet  # noqa: E402

eventlet.monkey_patch()

import logging  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from eventlet import wsgi  # noqa: E402
from swift.common import storage_policy, utils  # noqa: E402

CONF = """[swift-hash]
swift_hash_path_suffix = suffix
swift_hash_path_prefix = prefix

[storage-policy:0]
name = one
default = yes

[swift-constraints]
max_file_size = 5368709122
"""

PROXY = """[DEFAULT]
swift_dir = {folder}
log_level = ERROR

[pipeline:main]
pipeline = catch_errors gatekeeper s3api tempauth copy slo proxy-server

[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
conn_timeout = 20
node_timeout = 60

[filter:catch_errors]
use = egg:swift#catch_errors

[filter:gatekeeper]
use = egg:swift#gatekeeper

[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin

[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
allow_multipart_uploads = true
min_segment_size = 5242880

[filter:copy]
use = egg:swift#copy

[filter:slo]
use = egg:swift#slo
rate_limit_under_size = 0
"""


def listening():
    socket = eventlet.listen(("127.0.0.1", 0), backlog=512)
    return socket, socket.getsockname()[1]


def ring(folder, name, port):
    from swift.common.ring import RingBuilder
    builder = RingBuilder(2, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1,
                     "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, f"{name}.ring.gz"))


def main():
    descriptor, folder = int(sys.argv[1]), sys.argv[2]
    log = logging.getLogger("servers")
    log.addHandler(logging.FileHandler(os.path.join(folder, "swift.log")))
    path = os.path.join(folder, "swift.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONF)
    utils.SWIFT_CONF_FILE = path
    utils.HASH_PATH_SUFFIX, utils.HASH_PATH_PREFIX = b"suffix", b"prefix"
    storage_policy.reload_storage_policies()
    devices = os.path.join(folder, "devices")
    os.makedirs(os.path.join(devices, "disk", "tmp"))
    conf = {"devices": devices, "swift_dir": folder, "mount_check": "false", "log_level": "ERROR"}
    servers = []
    for name, package in (("account", "account"), ("container", "container"), ("object", "obj")):
        module = __import__(f"swift.{package}.server", fromlist=["app_factory"])
        socket, port = listening()
        ring(folder, name, port)
        servers.append((socket, module.app_factory(conf)))
    config = os.path.join(folder, "proxy-server.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(PROXY.format(folder=folder))
    from swift.common.wsgi import loadapp
    socket, port = listening()
    servers.append((socket, loadapp(config, global_conf={"__file__": config, "log_name": "proxy"})))
    from swift.common.wsgi import SwiftHttpProtocol
    for server, app in servers:
        eventlet.spawn(wsgi.server, server, app, log, log_output=False, protocol=SwiftHttpProtocol,
                       custom_pool=eventlet.GreenPool(512), minimum_chunk_size=1 << 16)
    with os.fdopen(descriptor, "w") as pipe:
        pipe.write(f"{port}\n")
    while True:
        eventlet.sleep(3600)


if __name__ == "__main__":
    main()
