#if NIO
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Addresses as bytes, to be compared whatever they are written like.
  enum AddressBytes {
    /// The 4 or 16 bytes of a host that is an address, with IPv6 in brackets or without; `nil` for a name.
    static func of(_ host: String) -> [UInt8]? {
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      let text = isBracketed ? String(host.dropFirst().dropLast()) : host
      return parsed(text, AF_INET, count: 4) ?? parsed(text, AF_INET6, count: 16)
    }

    private static func parsed(_ text: String, _ family: CInt, count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
  }
#endif
