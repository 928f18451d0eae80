/// A client that is registered with the authorization server: an app on a user's device, which cannot protect a secret.
struct RegisteredClient: Sendable {
  /// The client's id.
  let id: String
  /// The path of its redirect on 127.0.0.1.
  var redirectPath = "/callback"

  /// Whether a redirect is the registered one: `http://127.0.0.1:PORT/PATH`, compared exactly except for the port,
  /// which an app chooses for each sign-in (RFC 8252 §7.3).
  func allows(redirect: String) -> Bool {
    let start = "http://127.0.0.1:"
    guard redirect.utf8.starts(with: start.utf8) else { return false }
    let rest = redirect.utf8.dropFirst(start.utf8.count)
    let port = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard port.first != UInt8(ascii: "0"), rest.dropFirst(port.count).elementsEqual(redirectPath.utf8) else {
      return false
    }
    return Int(String(Substring(port))).map { (1...65_535).contains($0) } ?? false
  }
}
