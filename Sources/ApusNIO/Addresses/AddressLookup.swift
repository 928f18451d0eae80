import ApusCore
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The socket addresses of a host.
enum AddressLookup {
  /// Returns the socket address of a host that is an IP address, IPv6 in brackets; `nil` for a name.
  static func literal(_ host: String, port: Int) -> SocketAddress? {
    let text = AddressBytes.unbracketed(host)
    // The last label of a name never ends in a digit, so most names skip parsing.
    guard text.utf8.count < host.utf8.count || text.utf8.last.map({ $0 >= 0x30 && $0 <= 0x39 }) == true,
      !text.utf8.contains(0)
    else { return nil }
    return try? SocketAddress(ipAddress: text, port: port)
  }

  /// Returns the addresses of a name in the order in which the system would try them (RFC 6724). Blocks.
  ///
  /// - Throws: `TransportError` with the code `hostNotFound`.
  static func search(for host: String) throws -> [SocketAddress] {
    // getaddrinfo stops at a zero byte.
    guard !host.utf8.contains(0) else { throw notFound(host, "the name contains a zero byte") }
    var hints = addrinfo()
    #if canImport(Darwin) || canImport(Musl)
    hints.ai_socktype = SOCK_STREAM
    #else
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    hints.ai_protocol = CInt(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    // If the name server does not respond, the error is `hostNotFound`, too, because no connection was attempted.
    guard code == 0 else { throw notFound(host, String(cString: gai_strerror(code))) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let current = entry?.pointee {
      if let address = Self.address(current), !addresses.contains(address) { addresses.append(address) }
      entry = current.ai_next
    }
    guard !addresses.isEmpty else { throw notFound(host, "the name has no addresses") }
    return addresses
  }

  private static func notFound(_ host: String, _ reason: String) -> TransportError {
    TransportError(.hostNotFound, requestState: .notSent, detail: "no address found for \(host): \(reason)")
  }

  private static func address(_ info: addrinfo) -> SocketAddress? {
    guard let pointer = info.ai_addr else { return nil }
    let raw = UnsafeRawPointer(pointer)
    switch info.ai_family {
    case AF_INET: return SocketAddress(raw.loadUnaligned(as: sockaddr_in.self))
    case AF_INET6: return SocketAddress(raw.loadUnaligned(as: sockaddr_in6.self))
    default: return nil
    }
  }
}
