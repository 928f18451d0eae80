import Foundation

/// A server in a process of its own that discards the content (body) of every request without copying it, so that an
/// upload takes the time of its client.
final class Sink {
  let port: Int
  private let process = Process()
  /// The process ends when this closes.
  private let input = Pipe()

  init() throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["sink"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw Unexpected() }
    self.port = port
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Serves until standard input closes. Prints the port first.
  static func serve() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let port = try Loopback.bind(listener)
    guard listen(listener, 16) == 0 else { throw Unexpected() }
    Thread.detachNewThread {
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        Thread.detachNewThread { serve(connection) }
      }
    }
    FileHandle.standardOutput.write(Data("\(port)\n".utf8))
    _ = try FileHandle.standardInput.readToEnd()
  }

  private static func serve(_ connection: Int32) {
    defer { close(connection) }
    while let length = contentLength(readHead(connection)) {
      var rest = length
      while rest > 0 {
        // The kernel discards the bytes.
        let count = recv(connection, nil, min(rest, 4 << 20), Int32(MSG_TRUNC))
        guard count > 0 else { return }
        rest -= count
      }
      let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
      guard send(connection, response, response.count, Int32(MSG_NOSIGNAL)) == response.count else { return }
    }
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

  private static func contentLength(_ head: String) -> Int? {
    let name = "content-length:"
    let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.dropFirst(name.count).trimmingCharacters(in: .whitespaces)) }
  }
}
