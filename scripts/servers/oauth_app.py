"""An authorization server (OAuth 2, OpenID Connect) and an API, with Authlib and joserfc, on a free port.

The port's number is written to the given file descriptor. The server requires PKCE with S256, names itself in redirects
(RFC 9207), rotates refresh tokens, and revokes all tokens of a sign-in when a refresh token is used twice. Proofs of
possession (RFC 9449) are checked wherever they come, with a nonce. Authorization requests may be pushed (RFC 9126). Clients: `app`
and `parallel` (public), `bound` (public, with proofs), `pushed` (public, must push its requests), `signed` (must push
its requests, and authenticates with the key at /client-key, private_key_jwt), `service` with the secret
`service-secret`, and one for each algorithm of ID tokens, such as `app-ES384`.

    GET  /authorize?...                a page; the same URL with &decision=allow or deny redirects
    GET  /enter?user_code=C&decision=D decides on a device, or ends its code: allow, deny or expire
    GET  /client-key                   the private key of the client `signed` as PEM
    GET  /api                          needs a token with the scope films:read
    GET  /log                          the requests to the token endpoint: a list of [grant type, status, client]
    GET  /expire                       ends all access tokens
"""

import hashlib
import json
import logging
import os
import secrets
import sys
import threading
import time

import waitress
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6749.errors import InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialMixin
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, Response, jsonify, request
from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.util import to_bytes, urlsafe_b64encode

logging.disable(logging.WARNING)
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # on loopback

LOCK = threading.RLock()
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
# The keys that sign ID tokens, by algorithm.
KEYS = {it: RSA for it in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")} | {
    "ES256": ECKey.generate_key("P-256", {"kid": "p-256", "use": "sig"}),
    "ES384": ECKey.generate_key("P-384", {"kid": "p-384", "use": "sig"}),
    "ES512": ECKey.generate_key("P-521", {"kid": "p-521", "use": "sig"}),
    "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "ed25519", "use": "sig"})}
CLIENT_KEY = ECKey.generate_key("P-256", {"kid": "client-key"})
NONCE = secrets.token_urlsafe(12)
CODES, TOKENS, DEVICES, DECISIONS, PUSHED, POLLED, PROOFS, LOG = {}, [], {}, {}, {}, {}, set(), []
ASSERTIONS = set()
app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_SCOPES_SUPPORTED"] = ["openid", "films:read", "films:write"]


class User:
    id = "user-1"

    def get_user_id(self):
        return self.id


class Client(ClientMixin):
    allowed = ("openid", "films:read", "films:write")

    def __init__(self, name, secret=None, key=None, pushes=False, algorithm="RS256"):
        self.client_id, self.secret, self.key, self.pushes, self.algorithm = name, secret, key, pushes, algorithm

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        # The user never grants films:write.
        return " ".join(it for it in scope.split() if it in self.allowed and it != "films:write") if scope else ""

    def check_redirect_uri(self, redirect_uri):
        # Any port on loopback (RFC 8252 §7.3).
        return redirect_uri.startswith("http://127.0.0.1:") and redirect_uri.endswith("/callback")

    def check_client_secret(self, client_secret):
        return self.secret is not None and secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method, endpoint):
        if self.key is not None:
            return method == "private_key_jwt"
        return method in (("none",) if self.secret is None else ("client_secret_basic", "client_secret_post"))

    def check_response_type(self, response_type):
        return response_type == "code" and self.secret is None

    def check_grant_type(self, grant_type):
        if self.secret is not None:
            return grant_type == "client_credentials"
        return grant_type != "client_credentials" or self.key is not None


CLIENTS = {it.client_id: it for it in (
    Client("app"), Client("bound"), Client("parallel"), Client("pushed", pushes=True),
    Client("signed", key=CLIENT_KEY, pushes=True), Client("service", "service-secret"),
    *(Client("app-" + it, algorithm=it) for it in KEYS))}


class Code(AuthorizationCodeMixin):
    def __init__(self, **members):
        self.__dict__.update(members)

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return int(self.time)

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class Token(TokenMixin):
    def __init__(self, members, client_id, family, jkt):
        self.members, self.client_id, self.family, self.jkt = members, client_id, family, jkt
        self.expires = time.time() + members.get("expires_in", 3600)
        self.is_used = self.revoked = False

    def check_client(self, client):
        return client.client_id == self.client_id

    def get_scope(self):
        return self.members.get("scope", "")

    def get_expires_in(self):
        return self.members["expires_in"]

    def is_expired(self):
        return time.time() > self.expires

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return User()

    def get_client(self):
        return CLIENTS[self.client_id]


def found(name, value):
    return next((it for it in TOKENS if it.members.get(name) == value), None)


def save_token(token, it):
    old = getattr(it, "refresh_token", None)
    jkt = proof_thumbprint()
    if jkt:
        token["token_type"] = "DPoP"
    family = old.family if old else getattr(it.authorization_code, "family", None) or secrets.token_hex(8)
    TOKENS.append(Token(dict(token), it.client.client_id, family, jkt))


class Server(AuthorizationServer):
    def create_oauth2_request(self, it):
        made = super().create_oauth2_request(it)
        if request.path == "/authorize":
            parameters = pushed_parameters()
            if parameters is not None:
                made.payload = BasicOAuth2Payload(parameters)
        return made


def pushed_parameters():
    """The parameters that the client has pushed before (RFC 9126 §4); `None`: it has pushed none, and need not."""
    name, client_id = request.args.get("request_uri"), request.args.get("client_id")
    if name is None:
        if client_id in CLIENTS and CLIENTS[client_id].pushes:
            raise InvalidRequestError("The client must push its requests.")
        return None
    parameters, end = PUSHED.get(name, ({}, 0))
    if time.time() > end or parameters["client_id"] != client_id:
        raise InvalidRequestError("There is no such pushed request of the client.")
    return parameters


server = Server(app, query_client=CLIENTS.get, save_token=save_token)


class Assertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = "private_key_jwt"

    def get_audiences(self):
        return [issuer()]

    def validate_jti(self, claims, jti):
        is_new = jti not in ASSERTIONS
        ASSERTIONS.add(jti)
        return is_new

    def resolve_client_public_key(self, client):
        return client.key


server.register_client_auth_method("private_key_jwt", Assertion())


class Issuer(IssuerParameter):
    def get_issuer(self):
        return issuer()


def issuer():
    return request.host_url.rstrip("/")


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "private_key_jwt"]

    def save_authorization_code(self, code, it):
        data = it.payload.data
        CODES[code] = Code(
            code=code, client_id=it.client.client_id, redirect_uri=it.payload.redirect_uri,
            scope=it.client.get_allowed_scope(it.payload.scope), nonce=data.get("nonce"), time=time.time(),
            code_challenge=data.get("code_challenge"), code_challenge_method=data.get("code_challenge_method"),
            jkt=data.get("dpop_jkt"), family=secrets.token_hex(8))

    def query_authorization_code(self, code, client):
        it = CODES.get(code)
        if it and it.client_id == client.client_id and (it.jkt is None or it.jkt == proof_thumbprint()):
            return it
        return None

    def delete_authorization_code(self, authorization_code):
        CODES.pop(authorization_code.code, None)

    def authenticate_user(self, authorization_code):
        return User()


class OnlyS256(CodeChallenge):
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant, redirect_uri):
        if not grant.request.payload.data.get("code_challenge"):
            raise InvalidRequestError("Missing 'code_challenge'", redirect_uri=redirect_uri)
        super().validate_code_challenge(grant, redirect_uri)


class OpenID(OpenIDCode):
    def exists_nonce(self, nonce, it):
        return any(code.nonce == nonce for code in CODES.values())

    def resolve_client_private_key(self, client):
        return KEYS[client.algorithm]

    def get_client_algorithm(self, client):
        return client.algorithm

    def get_encode_header(self, client):
        return {"alg": client.algorithm, "kid": KEYS[client.algorithm].kid}

    def get_client_claims(self, client):
        return {"iss": issuer()}

    def get_compatible_claims(self, it):
        now = int(time.time())
        return {"iss": issuer(), "aud": [it.client.client_id], "iat": now, "exp": now + 300}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user.id, name="Ada", email="ada@example.com")


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "private_key_jwt"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        it = found("refresh_token", refresh_token)
        if it is None or it.revoked or it.jkt != proof_thumbprint():
            return None
        if it.is_used:  # whoever uses it a second time may have stolen it
            for other in TOKENS:
                other.revoked = other.revoked or other.family == it.family
            return None
        return it

    def authenticate_user(self, refresh_token):
        return User()

    def revoke_old_credential(self, refresh_token):
        refresh_token.is_used = True


class ClientGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"]


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "private_key_jwt"]

    def query_token(self, token_string, token_type_hint):
        return found("access_token", token_string) or found("refresh_token", token_string)

    def revoke_token(self, token, it):
        if it.form["token"] == token.members.get("refresh_token"):
            for other in TOKENS:
                other.revoked = other.revoked or other.family == token.family
        token.revoked = True


class Device(DeviceCredentialMixin):
    def __init__(self, client_id, scope, data):
        self.client_id, self.scope, self.data, self.expires = client_id, scope, data, time.time() + data["expires_in"]

    def get_client_id(self):
        return self.client_id

    def get_scope(self):
        return self.scope

    def get_user_code(self):
        return self.data["user_code"]

    def get_nonce(self):
        return None

    def get_auth_time(self):
        return None

    def is_expired(self):
        return time.time() > self.expires


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    INTERVAL = 1

    def get_verification_uri(self):
        return issuer() + "/enter"

    def save_device_credential(self, client_id, scope, data):
        DEVICES[data["device_code"]] = Device(client_id, scope, data)


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "private_key_jwt"]

    def query_device_credential(self, device_code):
        return DEVICES.get(device_code)

    def query_user_grant(self, user_code):
        decision = DECISIONS.get(user_code)
        return None if decision is None else (User(), decision == "allow")

    def should_slow_down(self, credential):
        count = POLLED[credential.get_user_code()] = POLLED.get(credential.get_user_code(), 0) + 1
        return count == 2  # the second request, as an example


server.register_extension(Issuer())
server.register_grant(CodeGrant, [OpenID(require_nonce=True), OnlyS256(required=True)])
server.register_grant(RefreshGrant)
server.register_grant(ClientGrant)
server.register_grant(DeviceGrant)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)


# MARK: Proofs of possession

class BadProof(Exception):
    pass


def proof_thumbprint():
    """The thumbprint of the key of the request's proof, without a check; `None`: there is no proof."""
    text = request.headers.get("DPoP")
    if text is None:
        return None
    return ECKey.import_key(jwt.decode(text, _key_of(text), algorithms=["ES256"]).header["jwk"]).thumbprint()


def _key_of(text):
    padded = text.split(".")[0] + "=="
    import base64
    return ECKey.import_key(json.loads(base64.urlsafe_b64decode(padded))["jwk"])


def checked_proof(token=None):
    """Checks the request's proof. Returns the thumbprint of its key."""
    text = request.headers.get("DPoP", "")
    try:
        proof = jwt.decode(text, _key_of(text), algorithms=["ES256"])
    except Exception as error:
        raise BadProof("invalid_dpop_proof") from error
    claims = proof.claims
    if (proof.header.get("typ") != "dpop+jwt" or "d" in proof.header["jwk"] or claims.get("htm") != request.method
            or claims.get("htu") != request.base_url or abs(claims.get("iat", 0) - time.time()) > 60
            or not claims.get("jti") or claims["jti"] in PROOFS):
        raise BadProof("invalid_dpop_proof")
    PROOFS.add(claims["jti"])
    if claims.get("nonce") != NONCE:
        raise BadProof("use_dpop_nonce")
    if token is not None:
        digest = urlsafe_b64encode(hashlib.sha256(to_bytes(token)).digest()).decode()
        if claims.get("ath") != digest:
            raise BadProof("invalid_dpop_proof")
    return ECKey.import_key(proof.header["jwk"]).thumbprint()


def bad_proof(error):
    return Response(json.dumps({"error": str(error)}), 400, {"DPoP-Nonce": NONCE}, mimetype="application/json")


# MARK: Endpoints

@app.before_request
def one_at_a_time():
    LOCK.acquire()


@app.teardown_request
def next_one(_):
    LOCK.release()


@app.get("/.well-known/openid-configuration")
def metadata():
    base = issuer()
    return jsonify(
        issuer=base, authorization_endpoint=base + "/authorize", token_endpoint=base + "/token",
        revocation_endpoint=base + "/revoke", device_authorization_endpoint=base + "/device", jwks_uri=base + "/keys",
        pushed_authorization_request_endpoint=base + "/par",
        token_endpoint_auth_methods_supported=["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
        code_challenge_methods_supported=["S256"], authorization_response_iss_parameter_supported=True,
        id_token_signing_alg_values_supported=list(KEYS), dpop_signing_alg_values_supported=["ES256"])


@app.get("/keys")
def keys():
    return jsonify(keys=[it.as_dict(private=False) for it in {it.kid: it for it in KEYS.values()}.values()])


@app.get("/client-key")
def client_key():
    return Response(CLIENT_KEY.as_pem(private=True), mimetype="text/plain")


@app.post("/par")
def par():
    """Keeps an authorization request, once the client and the request are checked (RFC 9126 §2)."""
    try:
        key = checked_proof() if "DPoP" in request.headers else None
        client = server.authenticate_client(server.create_oauth2_request(None), ["none", "private_key_jwt"], "par")
        if client.client_id != request.form.get("client_id") or "request_uri" in request.form:
            raise InvalidRequestError()
        if key is not None and key != request.form.get("dpop_jkt"):
            raise BadProof("invalid_dpop_proof")
        server.get_consent_grant(end_user=User())
    except OAuth2Error as error:
        error.redirect_uri = None  # the client hears of it, not its page
        return server.handle_error_response(request, error)
    except BadProof as error:
        return bad_proof(error)
    name = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(24)
    PUSHED[name] = (request.form.to_dict(), time.time() + 60)
    return jsonify(request_uri=name, expires_in=60), 201


@app.get("/authorize")
def authorize():
    decision = request.args.get("decision")
    try:
        grant = server.get_consent_grant(end_user=User())
    except OAuth2Error as error:
        return server.handle_error_response(request, error)
    if decision is None:
        return "<a>allow</a>"
    response = server.create_authorization_response(grant_user=User() if decision == "allow" else None, grant=grant)
    PUSHED.pop(request.args.get("request_uri"), None)  # for one use
    return response


@app.post("/token")
def token():
    if request.headers.get("DPoP") is not None or request.form.get("client_id") == "bound":
        try:
            checked_proof()
        except BadProof as error:
            return bad_proof(error)
    response = server.create_token_response()
    LOG.append([request.form.get("grant_type"), response.status_code, request.form.get("client_id")])
    return response


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.post("/device")
def device():
    return server.create_endpoint_response("device_authorization")


@app.get("/enter")
def enter():
    code, decision = request.args["user_code"], request.args["decision"]
    if decision == "expire":
        next(it for it in DEVICES.values() if it.get_user_code() == code).expires = 0
    else:
        DECISIONS[code] = decision
    return ""


@app.get("/api")
def api():
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    it = found("access_token", value)
    if it is None or it.revoked or it.is_expired() or scheme != ("DPoP" if it.jkt else "Bearer"):
        return Response(status=401, headers={"WWW-Authenticate": f'{scheme or "Bearer"} error="invalid_token"'})
    if it.jkt:
        try:
            if checked_proof(value) != it.jkt:
                raise BadProof("invalid_dpop_proof")
        except BadProof as error:
            return Response(status=401, headers={"WWW-Authenticate": f'DPoP error="{error}"', "DPoP-Nonce": NONCE})
    if request.args.get("scope", "films:read") not in it.get_scope().split():
        return Response(status=403, headers={
            "WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{request.args["scope"]}"'})
    return jsonify(client=it.client_id, scope=it.get_scope())


@app.get("/log")
def log():
    return jsonify(LOG)


@app.get("/expire")
def expire():
    for it in TOKENS:
        it.expires = 0
    return ""


def main():
    it = waitress.create_server(app, host="127.0.0.1", port=0, threads=8)
    with os.fdopen(int(sys.argv[1]), "w") as pipe:
        pipe.write(f"{it.effective_port}\n")
    it.run()


if __name__ == "__main__":
    main()
