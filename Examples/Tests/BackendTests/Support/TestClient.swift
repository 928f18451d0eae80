/// A client that opens a connection for each request.
struct TestClient: Sendable {
  let port: Int

  func get(_ target: String, token: String? = nil) async throws -> Answer {
    try await send("GET", target, token: token)
  }

  func post(_ target: String, _ json: String, token: String? = nil) async throws -> Answer {
    try await send("POST", target, json: json, token: token)
  }

  /// Sends a request for new tokens. Returns the response.
  func refresh(_ token: String) async throws -> Answer {
    try await post("/sessions/refresh", #"{"refresh_token": "\#(token)"}"#)
  }

  /// Refreshes the tokens.
  func refreshed(_ tokens: SignedIn) async throws -> SignedIn {
    try SignedIn(try await refresh(tokens.refresh).json())
  }

  /// Returns the status of a request with an access token.
  func status(with token: String) async throws -> Int {
    try await get("/accounts/me", token: token).status
  }

  func send(
    _ method: String, _ target: String, json: String? = nil, token: String? = nil, fields: [String] = []
  ) async throws -> Answer {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + fields
    if let token { lines.append("Authorization: Bearer \(token)") }
    if let json { lines += ["Content-Type: application/json", "Content-Length: \(json.utf8.count)"] }
    let message = lines.joined(separator: "\r\n") + "\r\n\r\n" + (json ?? "")
    return try await Wire.open(port) { wire in
      try await wire.send(message)
      return try await wire.answer(toHead: method == "HEAD")
    }
  }

  /// Sends a form that is already encoded.
  func post(_ target: String, form: String) async throws -> Answer {
    let lines = [
      "POST \(target) HTTP/1.1", "Host: 127.0.0.1", "Connection: close",
      "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)",
    ]
    return try await Wire.open(port) { wire in
      try await wire.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + form)
      return try await wire.answer()
    }
  }

  /// Signs a user up and in.
  func signIn(name: String = "Ann", email: String = "ann@example.com") async throws -> SignedIn {
    _ = try await post("/accounts", #"{"name": "\#(name)", "email": "\#(email)", "password": "12345678"}"#)
    let answer = try await post("/sessions", #"{"email": "\#(email)", "password": "12345678"}"#)
    return try SignedIn(answer.json())
  }
}

/// A pair of tokens.
struct SignedIn: Sendable {
  let access: String
  let refresh: String

  init(_ json: JSON) throws {
    guard let access = json["access_token"]?.string, let refresh = json["refresh_token"]?.string else {
      throw Wire.Closed()
    }
    self.access = access
    self.refresh = refresh
  }
}
