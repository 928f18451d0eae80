import Apus

// Style: structs. The properties are the parameters, so an incomplete endpoint does not compile.

struct SignUp: Endpoint {
  let form: SignUpForm

  var request: Request<Account> {
    let input = SignUpInput(name: form.name, email: form.email, password: form.password.value)
    return .post("/accounts", content: .json(input)).credentials(.none)
  }
}

struct SignIn: Endpoint {
  let email: String
  let password: Secret

  var request: Request<Tokens> {
    let input = SignInInput(email: email, password: password.value)
    return .post("/sessions", content: .json(input)).credentials(.none)
  }
}

/// A request for new tokens. It is idempotent on this server, which accepts a refresh token until a token of the next
/// pair is used. With single-use refresh tokens the request would not be idempotent.
struct RefreshSession: Endpoint {
  let token: Secret

  var request: Request<Tokens> {
    .post("/sessions/refresh", content: .json(["refresh_token": token.value])).idempotent()
  }
}

/// A request that revokes the tokens. It contains only the refresh token, because the access token may have expired.
/// Revocation is idempotent (RFC 7009 §2.2).
struct SignOut: Endpoint {
  let token: Secret

  var request: Request<Void> {
    .post("/sessions/revoke", content: .json(["refresh_token": token.value])).credentials(.none).idempotent()
  }
}

struct GetAccount: Endpoint {
  var request: Request<Account> { .get("/accounts/me") }
}

private struct SignUpInput: Encodable, Sendable {
  let name: String
  let email: String
  let password: String
}

private struct SignInInput: Encodable, Sendable {
  let email: String
  let password: String
}
