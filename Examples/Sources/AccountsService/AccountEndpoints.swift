import Apus

// Style: structs. What an operation needs are its properties; one that lacks something does not compile.

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

/// Can be tried again when its answer was lost: this server takes a refresh token until one that it gave for it is
/// shown. At a server that takes each token once it must not be.
struct RefreshSession: Endpoint {
  let token: Secret

  var request: Request<Tokens> {
    .post("/sessions/refresh", content: .json(["refresh_token": token.value])).idempotent()
  }
}

/// Shows the refresh token and no other, which may have expired. To sign out twice is to sign out (RFC 7009 §2.2).
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
