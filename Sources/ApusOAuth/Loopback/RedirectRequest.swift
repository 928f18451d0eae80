/// A request to the listener: the head of an HTTP/1.1 message, parsed byte by byte. Pure and bounded.
struct RedirectRequest {
  /// The maximum length of a head in bytes.
  static let limit = 32 << 10

  /// The listener's next step for a connection.
  enum Step: Hashable {
    /// Wait for more bytes.
    case wait
    /// Send a page, and end the wait: the request is the redirect.
    case arrive(target: String)
    /// Respond with this status, and continue to wait: the request is not the redirect.
    case refuse(status: Int)
  }

  /// The path of the redirect.
  let path: String
  /// The port of the listener, which a request must state. Without this rule, a web page with a domain of its own could
  /// send requests to the listener and read the responses.
  let port: UInt16
  /// The state of the sign-in, which only its redirect contains.
  let state: String
  private var bytes: [UInt8] = []

  init(path: String, port: UInt16, state: String) {
    (self.path, self.port, self.state) = (path, port, state)
  }

  /// Adds bytes. Returns the next step.
  mutating func read(_ new: some Sequence<UInt8>) -> Step {
    // The head's end may begin in the bytes that were added last.
    let start = max(0, bytes.count - 3)
    bytes += new
    guard let end = Self.end(of: bytes[start...]) else {
      return bytes.count > Self.limit ? .refuse(status: 431) : .wait
    }
    guard end <= Self.limit else { return .refuse(status: 431) }
    return step(for: String(decoding: bytes[..<end], as: UTF8.self))
  }

  /// Returns the index of the empty line.
  private static func end(of bytes: ArraySlice<UInt8>) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard bytes.count >= mark.count else { return nil }
    return (bytes.startIndex...(bytes.endIndex - mark.count)).first {
      bytes[$0..<($0 + mark.count)].elementsEqual(mark)
    }
  }

  private func step(for head: String) -> Step {
    let lines = head.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", isPlain(words[1]) else {
      return .refuse(status: 400)
    }
    let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }.map { line in
      line.dropFirst(5).filter { $0 != " " && $0 != "\t" }.lowercased()
    }
    guard hosts.count == 1, let host = hosts.first, ["127.0.0.1:\(port)", "localhost:\(port)"].contains(host) else {
      return .refuse(status: 421)
    }
    let target = String(words[1])
    guard target.prefix(while: { $0 != "?" }) == path else { return .refuse(status: 404) }
    guard words[0] == "GET" else { return .refuse(status: 405) }
    // A request without the state has another origin: a browser's prefetch, an old window, or a page that tries to end
    // the sign-in.
    let states = FormText.values(of: "state", in: target.drop { $0 != "?" }.dropFirst())
    guard !states.isEmpty, states.allSatisfy({ SecretText.areEqual($0, state) }) else { return .refuse(status: 404) }
    return .arrive(target: target)
  }

  private func isPlain(_ target: Substring) -> Bool {
    target.utf8.first == UInt8(ascii: "/") && target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
