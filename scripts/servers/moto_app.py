#!/usr/bin/env python3
"""moto with S3 and STS, on loopback.

    moto_app.py FILE_DESCRIPTOR

Writes its port to the file descriptor. Signatures are verified, by botocore. The user is `test:tester` with the secret
`testing`. It may assume the role `arn:aws:iam::123456789012:role/reader`, which may read and list, and the role
`.../writer`, which may do anything.
"""

import calendar
import json
import os
import sys
import time
from urllib.parse import parse_qsl, urlencode, urlsplit

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0"
os.environ["MOTO_ALLOW_NONEXISTENT_REGION"] = "true"
os.environ["S3_IGNORE_SUBDOMAIN_BUCKETNAME"] = "true"

from botocore.auth import S3SigV4QueryAuth  # noqa: E402
from botocore.awsrequest import AWSRequest  # noqa: E402
from moto.core.authorization import ActionAuthenticatorMixin  # noqa: E402
from moto.iam.access_control import create_access_key  # noqa: E402
from moto.iam.models import iam_backends  # noqa: E402
from moto.moto_server.werkzeug_app import (  # noqa: E402
    DomainDispatcherApplication, MotoRequestHandler, create_backend_app)
from moto.s3.exceptions import S3AccessDeniedError, S3SignatureDoesNotMatchError  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

ACCOUNT = "123456789012"


def policy(*actions, principal=None):
    statement = {"Effect": "Allow", "Action": list(actions)}
    statement |= {"Resource": "*"} if principal is None else {"Principal": {"AWS": principal}}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def make_accounts():
    iam = iam_backends[ACCOUNT]["aws"]
    user = iam.create_user("us-east-1", "tester")
    key = iam.create_access_key("tester")
    key.access_key_id, key.secret_access_key = "test:tester", "testing"
    iam.put_user_policy("tester", "all", policy("*"))
    # The session `tests` of the writer may assume roles as well.
    trust = policy("sts:AssumeRole", principal=[user.arn, f"arn:aws:sts::{ACCOUNT}:assumed-role/writer/tests"])
    for name, actions in (("reader", ["s3:Get*", "s3:List*", "s3:Head*"]), ("writer", ["*"])):
        iam.create_role(name, trust, "/", None, "", [], 3600)
        iam.put_role_policy(name, "all", policy(*actions))


def accept_other_proofs():
    """moto verifies signatures in fields only. A presigned URL has its signature in the query, and a request with the
    token of an identity provider has none."""
    check, check_s3 = (ActionAuthenticatorMixin._authenticate_and_authorize_normal_action,
                       ActionAuthenticatorMixin._authenticate_and_authorize_s3_action)

    def checked(self, resource="*"):
        if self._get_action() != "AssumeRoleWithWebIdentity":
            check(self, resource)

    def checked_s3(self, bucket_name=None, key_name=None):
        if "X-Amz-Signature=" in urlsplit(self.uri).query:
            check_presigned(self.method, self.uri, self.headers)
        else:
            check_s3(self, bucket_name, key_name)

    ActionAuthenticatorMixin._authenticate_and_authorize_normal_action = checked
    ActionAuthenticatorMixin._authenticate_and_authorize_s3_action = checked_s3


def check_presigned(method, url, fields):
    query = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    signature, date = query.pop("X-Amz-Signature"), query["X-Amz-Date"]
    key_id, _, region, _, _ = query["X-Amz-Credential"].split("/")
    signed = {it: fields[it] for it in query["X-Amz-SignedHeaders"].split(";")}
    key = create_access_key(ACCOUNT, "aws", key_id, fields).create_credentials()
    request = AWSRequest(method, url.split("?")[0] + "?" + urlencode(query, safe="~"), signed)
    request.context["timestamp"] = date
    auth = S3SigV4QueryAuth(key, "s3", region)
    if signature != auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request):
        raise S3SignatureDoesNotMatchError()
    if time.time() > calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ")) + int(query["X-Amz-Expires"]):
        raise S3AccessDeniedError()


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_):
        pass


def main():
    make_accounts()
    accept_other_proofs()
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True,
                         request_handler=Handler)
    with os.fdopen(int(sys.argv[1]), "w") as pipe:
        pipe.write(f"{server.server_port}\n")
    server.serve_forever()


if __name__ == "__main__":
    main()
