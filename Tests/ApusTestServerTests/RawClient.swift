import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A client on a blocking socket, which exposes the raw bytes and the end of a connection to tests.
///
/// Every call blocks on the client's own queue, because the server's tasks need the threads of the pool.
final class RawClient: Sendable {
  /// The end of a connection.
  enum End: Error, Equatable {
    case closed
    case reset
    case failed(errno: Int32)
  }

  private let descriptor: Int32
  private let queue = DispatchQueue(label: "RawClient")
  private let unread = Mutex<[UInt8]>([])

  /// Connects to a local port. A small receive buffer makes the client a slow reader.
  static func connect(to port: Int, receiveBuffer: Int32? = nil) async throws -> RawClient {
    let client = RawClient()
    if let receiveBuffer { client.set(SO_RCVBUF, receiveBuffer) }
    try await client.connect(to: port)
    return client
  }

  /// Runs `body` with a connected client and then closes it.
  static func with<Result>(
    _ port: Int, body: (RawClient) async throws -> Result
  ) async throws -> Result {
    let client = try await connect(to: port)
    do {
      let result = try await body(client)
      await client.close()
      return result
    } catch {
      await client.close()
      throw error
    }
  }

  private init() {
    #if canImport(Darwin)
    descriptor = socket(AF_INET, SOCK_STREAM, 0)
    set(SO_NOSIGPIPE, 1)
    #else
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    // A broken test should fail rather than hang.
    set(SO_RCVTIMEO, timeval(tv_sec: 60, tv_usec: 0))
    set(SO_SNDTIMEO, timeval(tv_sec: 60, tv_usec: 0))
  }

  // MARK: Sending

  /// Sends the head of a request. `fields` are complete lines.
  func request(_ method: String = "GET", _ target: String = "/", _ fields: String = "") async throws {
    try await send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
  }

  func send(_ text: String) async throws {
    try await send(Array(text.utf8))
  }

  func send(_ bytes: [UInt8]) async throws {
    try await run { descriptor throws(End) in
      var sent = 0
      while sent < bytes.count {
        let (count, code) = bytes[sent...].withUnsafeBytes { rest in
          #if canImport(Darwin)
          let count = Darwin.send(descriptor, rest.baseAddress, rest.count, 0)
          #else
          let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
          #endif
          return (count, errno)
        }
        guard count > 0 else { throw Self.end(code) }
        sent += count
      }
    }
  }

  // MARK: Receiving

  /// Receives `count` bytes.
  func receive(_ count: Int) async throws -> [UInt8] {
    while unread.withLock({ $0.count }) < count { try await fill() }
    return unread.withLock { unread in
      defer { unread.removeFirst(count) }
      return Array(unread.prefix(count))
    }
  }

  func receiveText(_ count: Int) async throws -> String {
    String(decoding: try await receive(count), as: UTF8.self)
  }

  /// Receives up to and including an empty line.
  func receiveHead() async throws -> String {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try await receive(1) }
    return String(decoding: head, as: UTF8.self)
  }

  /// Receives a head and the content announced by its `Content-Length`.
  @discardableResult
  func receiveAnswer() async throws -> (head: String, content: String) {
    let head = try await receiveHead()
    let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
    let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
    return (head, try await receiveText(length))
  }

  /// Receives everything up to the end of the connection, and returns how it ended.
  func receiveAll() async -> (text: String, end: End) {
    while true {
      do throws(End) {
        try await fill()
      } catch {
        return (String(decoding: unread.withLock { $0 }, as: UTF8.self), error)
      }
    }
  }

  // MARK: Connection

  private func connect(to port: Int) async throws {
    try await run { descriptor throws(End) in
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
      let (result, code) = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          #if canImport(Darwin)
          let result = Darwin.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
          #else
          let result = Glibc.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
          #endif
          return (result, errno)
        }
      }
      guard result == 0 else { throw Self.end(code) }
    }
  }

  func close() async {
    try? await run { descriptor throws(End) in
      #if canImport(Darwin)
      _ = Darwin.close(descriptor)
      #else
      _ = Glibc.close(descriptor)
      #endif
    }
  }

  private func fill() async throws(End) {
    let bytes = try await run { descriptor throws(End) in
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let (count, code) = bytes.withUnsafeMutableBytes { buffer in
        (recv(descriptor, buffer.baseAddress, buffer.count, 0), errno)
      }
      guard count > 0 else { throw count == 0 ? .closed : Self.end(code) }
      return Array(bytes.prefix(count))
    }
    unread.withLock { $0 += bytes }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (Int32) throws(End) -> Value
  ) async throws(End) -> Value {
    let result: Result<Value, End> = await withCheckedContinuation { continuation in
      queue.async { [descriptor] in
        continuation.resume(returning: Result { () throws(End) in try body(descriptor) })
      }
    }
    return try result.get()
  }

  private func set<Value>(_ option: Int32, _ value: Value) {
    withUnsafePointer(to: value) { pointer in
      _ = setsockopt(descriptor, SOL_SOCKET, option, pointer, socklen_t(MemoryLayout<Value>.size))
    }
  }

  private static func end(_ code: Int32) -> End {
    code == ECONNRESET || code == EPIPE ? .reset : .failed(errno: code)
  }
}
