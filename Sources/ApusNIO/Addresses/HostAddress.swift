import ApusCore
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The bytes of IP addresses, comparable however the address is spelled.
enum AddressBytes {
  /// Returns the 4 or 16 bytes of a host that is an address, IPv6 with or without brackets; `nil` for a name.
  static func of(_ host: String) -> [UInt8]? {
    let text = unbracketed(host)
    return parsed(text, AF_INET, count: 4) ?? parsed(text, AF_INET6, count: 16)
  }

  /// Returns the host without the brackets around an IPv6 address.
  static func unbracketed(_ host: String) -> String {
    let bytes = host.utf8
    guard bytes.count > 1, bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else { return host }
    return String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
  }

  private static func parsed(_ text: String, _ family: CInt, count: Int) -> [UInt8]? {
    // inet_pton stops at a zero byte.
    guard !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }
}

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
    // A name server that does not respond counts as "not found" too: nothing was reached, nothing was sent.
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
