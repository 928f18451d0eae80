import Foundation

/// A server that discards the content (body) of every request without copying it, so that an upload takes the time of
/// its client.
public enum Sink {
  /// Serves until standard input closes. Prints the port first.
  ///
  /// - Parameter respond: returns the response, as it is sent, to the head of a request.
  public static func serve(_ respond: @escaping @Sendable (_ head: String) -> String) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let port = try Loopback.bind(listener)
    guard listen(listener, 16) == 0 else { throw NotServing() }
    Thread.detachNewThread {
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        Thread.detachNewThread { serve(connection, respond) }
      }
    }
    try ServerProcess.announce(port)
  }

  private static func serve(_ connection: Int32, _ respond: (String) -> String) {
    defer { close(connection) }
    while case let head = readHead(connection), !head.isEmpty {
      if value(of: "expect", in: head) != nil { write("HTTP/1.1 100 Continue\r\n\r\n", to: connection) }
      var rest = value(of: "content-length", in: head).flatMap { Int($0) } ?? 0
      while rest > 0 {
        // The kernel discards the bytes.
        let count = recv(connection, nil, min(rest, 4 << 20), Int32(MSG_TRUNC))
        guard count > 0 else { return }
        rest -= count
      }
      write(respond(head), to: connection)
    }
  }

  /// Writes a short text. The next read fails if the connection has ended.
  private static func write(_ text: String, to connection: Int32) {
    let bytes = Array(text.utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Reads up to the content. Returns an empty text at the end of the connection.
  private static func readHead(_ connection: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let end = Array("\r\n\r\n".utf8)
    while true {
      let seen = recv(connection, &buffer, buffer.count, Int32(MSG_PEEK))
      guard seen > 0 else { return "" }
      if let range = Data(buffer[..<seen]).range(of: Data(end)) {
        let count = recv(connection, &buffer, range.upperBound, 0)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      }
    }
  }

  private static func value(of name: String, in head: String) -> String? {
    let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name):") }
    return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
  }
}
