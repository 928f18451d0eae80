public import Foundation

/// Addresses of the loopback interface.
public enum Loopback {
  /// Binds a socket to a free port. Returns the port.
  public static func bind(_ descriptor: Int32) throws -> Int {
    var address = address(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw NotServing() }
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  /// Returns the address of a port.
  public static func address(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }
}
