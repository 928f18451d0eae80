import Foundation

/// A connection to this machine that sends no bytes.
final class RawConnection: Sendable {
  struct Refused: Error {}

  private let number: Int32

  init(to port: UInt16) throws {
    #if canImport(Glibc)
    number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    number = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // A listener whose queue is full does not accept the connection.
    var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    guard result == 0 || errno == EINPROGRESS && poll(&entry, 1, 2000) == 1, fault == 0 else { throw Refused() }
  }

  deinit { close(number) }

  /// The error number of a failed connection; 0 if it succeeded.
  private var fault: Int32 {
    var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(number, SOL_SOCKET, SO_ERROR, &value, &length) == 0 ? value : errno
  }
}
