#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A port of 127.0.0.1 that is reserved but has no listener.
final class RefusingPort: Sendable {
  struct Unavailable: Error {}

  let port: Int
  private let descriptor: Int32

  init() throws {
    #if canImport(Darwin)
    let socket = socket(AF_INET, SOCK_STREAM, 0)
    #else
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard socket >= 0 else { throw Unavailable() }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let hasPort = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
      }
    }
    descriptor = socket
    port = Int(UInt16(bigEndian: address.sin_port))
    guard hasPort else {
      close(socket)
      throw Unavailable()
    }
  }

  deinit {
    close(descriptor)
  }
}
