#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A port of 127.0.0.1 that never responds: connections are not accepted, or accepted and ignored.
final class SilentPort: Sendable {
  struct Unavailable: Error {}

  let number: Int
  private let descriptors: [Int32]

  /// - Parameter accepts: whether connections are accepted.
  init(accepts: Bool = false) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = Self.socket()
    var descriptors = [listener]
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, accepts ? 16 : 0) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard isListening else { throw Unavailable() }
    number = Int(UInt16(bigEndian: address.sin_port))
    if !accepts {
      // Fills the queue of pending connections, so that further connections get no response.
      for _ in 0..<4 {
        let client = Self.socket()
        descriptors.append(client)
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, length) }
        }
      }
    }
    self.descriptors = descriptors
  }

  /// Returns a port without a listener: the port of a listener that was just closed.
  static func free() throws -> Int { try SilentPort(accepts: true).number }

  private static func socket() -> Int32 {
    #if canImport(Darwin) || canImport(Musl)
    systemSocket(AF_INET, SOCK_STREAM, 0)
    #else
    systemSocket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }
}

private func systemSocket(_ family: Int32, _ type: Int32, _ number: Int32) -> Int32 {
  socket(family, type, number)
}
