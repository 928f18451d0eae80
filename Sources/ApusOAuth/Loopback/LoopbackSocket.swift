#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A non-blocking socket. It is closed when the last reference is released.
final class LoopbackSocket: Sendable {
  enum Reading {
    case bytes([UInt8])
    case nothing
    case end
  }

  private let number: Int32

  private init(_ number: Int32) throws(OAuthError) {
    guard number >= 0 else { throw Self.failure }
    self.number = number
    let flags = fcntl(number, F_GETFL)
    guard fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
      throw Self.failure
    }
    #if canImport(Darwin)
    var on: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  deinit { close(number) }

  private static var failure: OAuthError {
    OAuthError(.redirect, .listenerFailed, "the system refused a socket (error \(errno))")
  }

  #if canImport(Glibc)
  private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
  private static let stream = SOCK_STREAM
  #endif

  /// The number of connections that may wait to be accepted: many more than are served concurrently, so that idle
  /// connections do not block the browser.
  private static let backlog: Int32 = 128

  /// Listens on 127.0.0.1, which other machines cannot reach.
  ///
  /// - Parameter port: the port; 0 for any free port.
  convenience init(listeningOn port: UInt16) throws(OAuthError) {
    try self.init(socket(AF_INET, Self.stream, 0))
    #if !canImport(Darwin)
    // Without this option the port could not be reused for a minute after a sign-in, because its connections were
    // closed on this side. On Darwin the option would also permit using the port of a program that listens on all
    // addresses.
    var on: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, listen(number, Self.backlog) == 0 else { throw Self.failure }
  }

  /// Returns the local port.
  func localPort() throws(OAuthError) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
    }
    guard result == 0 else { throw Self.failure }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Returns two connected sockets.
  static func pair() throws(OAuthError) -> (LoopbackSocket, LoopbackSocket) {
    var numbers: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, stream, 0, &numbers) == 0 else { throw failure }
    return (try LoopbackSocket(numbers[0]), try LoopbackSocket(numbers[1]))
  }

  /// Returns the next connection; `nil` if no connection is waiting, or if it failed.
  func accepted() -> LoopbackSocket? {
    try? LoopbackSocket(accept(number, nil, nil))
  }

  /// Waits until one of several sockets is readable, or has failed.
  ///
  /// - Parameter milliseconds: the maximum time to wait. Default: -1, without limit.
  /// - Returns: for each socket, whether it is readable or has failed.
  static func poll(_ sockets: [LoopbackSocket], milliseconds: Int32 = -1) throws(OAuthError) -> [Bool] {
    var entries = sockets.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    #if canImport(Darwin)
    let count = Darwin.poll(&entries, nfds_t(entries.count), milliseconds)
    #elseif canImport(Glibc)
    let count = Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
    #else
    let count = Musl.poll(&entries, nfds_t(entries.count), milliseconds)
    #endif
    guard count >= 0 || errno == EINTR else { throw failure }
    return entries.map { count > 0 && $0.revents != 0 }
  }

  /// Reads the available bytes.
  func read() -> Reading {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(number, &buffer, buffer.count, 0)
    if count > 0 { return .bytes(Array(buffer[..<count])) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
  }

  /// Sends as many bytes as the system accepts immediately. A page is much shorter than the socket's buffer.
  func send(_ bytes: [UInt8]) {
    #if canImport(Darwin)
    _ = Darwin.send(number, bytes, bytes.count, 0)
    #elseif canImport(Glibc)
    _ = Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    #else
    _ = Musl.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }
}
