import Foundation

/// A server in a separate process. It discards the content (body) of every request without copying it, so that an
/// upload takes the time of its client.
public final class Sink {
  /// The port on loopback.
  public let port: Int
  private let process = Process()
  /// The standard input of the process. When it closes, the process ends.
  private let input = Pipe()

  /// Runs this program with the argument `sink`, with which it must call ``serve(_:)``.
  public init() throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["sink"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NotServing() }
    self.port = port
  }

  /// Ends the process.
  public func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

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
    try announce(port)
  }

  /// Prints the port, and returns when standard input closes.
  static func announce(_ port: Int) throws {
    FileHandle.standardOutput.write(Data("\(port)\n".utf8))
    _ = try FileHandle.standardInput.readToEnd()
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

/// A server could not be started.
public struct NotServing: Error {}
