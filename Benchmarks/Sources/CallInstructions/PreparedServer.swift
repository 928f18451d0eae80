import Foundation
import Uploading

/// A server on a loopback port that responds to every request with the same bytes, on a thread of its own. Its own
/// instructions are few, because it reads no more of a request than it needs to.
struct PreparedServer {
  let port: Int
  private let listener: Int32

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    port = try Loopback.bind(listener)
    guard listen(listener, 1) == 0 else { throw NotServing() }
  }

  /// Serves one connection with HTTP/1.1. Each read is taken for a request.
  func serveHTTP1(_ content: String) {
    let response = Array(
      """
      HTTP/1.1 200 OK\r
      Server: x\r
      Date: Sat, 28 Nov 2026 04:00:00 GMT\r
      Content-Type: application/json\r
      Content-Length: \(content.utf8.count)\r
      \r
      \(content)
      """.utf8)
    serve { connection in
      var request = [UInt8](repeating: 0, count: 8 << 10)
      while read(connection, &request, request.count) > 0 { _ = write(connection, response, response.count) }
    }
  }

  /// Serves one connection with HTTP/2 (RFC 9113) with prior knowledge.
  func serveHTTP2(_ content: String) {
    serve { connection in
      var requests = FrameHeads(response: PreparedFrames(content: content))
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      var unread = 0
      while true {
        let count = buffer.withUnsafeMutableBytes {
          read(connection, $0.baseAddress?.advanced(by: unread), $0.count - unread)
        }
        guard count > 0 else { return }
        unread += count
        let taken = requests.take(buffer[..<unread])
        buffer.replaceSubrange(0..<(unread - taken), with: Array(buffer[taken..<unread]))
        unread -= taken
        guard !requests.output.isEmpty else { continue }
        _ = write(connection, requests.output, requests.output.count)
        requests.output.removeAll(keepingCapacity: true)
      }
    }
  }

  private func serve(_ connected: @escaping @Sendable (_ connection: Int32) -> Void) {
    Thread.detachNewThread { [listener] in
      let connection = accept(listener, nil, nil)
      var isOn: Int32 = 1
      setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
      connected(connection)
    }
  }
}
