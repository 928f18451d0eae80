#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The bytes of IP addresses, comparable however the address is spelled.
enum AddressBytes {
  /// Returns the 4 or 16 bytes of a host that is an IP address; `nil` for a name. An IPv6 address may be in brackets.
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
