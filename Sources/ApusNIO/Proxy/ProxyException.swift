#if NIO
  import ApusCore

  /// Hosts that are reached without a proxy: one entry of `no_proxy`.
  struct ProxyException: Sendable {
    private enum Pattern {
      case all
      /// A name and those below it.
      case name(String)
      /// The first so many bits of an address.
      case addresses(prefix: [UInt8], bits: Int)
      case nothing
    }

    private var pattern: Pattern
    private var port: Int?

    init(_ entry: String) {
      let entry = entry.lowercased()
      let (host, port) = Self.split(entry)
      self.port = port
      if entry == "*" {
        pattern = .all
      } else if let slash = host.firstIndex(of: "/") {
        let bits = Int(host[host.index(after: slash)...])
        let prefix = Self.address(String(host[..<slash]))
        guard let prefix, let bits, (0...prefix.count * 8).contains(bits) else {
          pattern = .nothing
          return
        }
        pattern = .addresses(prefix: prefix, bits: bits)
      } else if let address = Self.address(host) {
        pattern = .addresses(prefix: address, bits: address.count * 8)
      } else {
        let name = Self.name(host.hasPrefix("*.") ? String(host.dropFirst(2)) : host)
        pattern = name.isEmpty ? .nothing : .name(name)
      }
    }

    func covers(_ origin: Origin) -> Bool {
      if let port, port != origin.port { return false }
      switch pattern {
      case .all: return true
      case .nothing: return false
      case .name(let name):
        let host = Self.name(origin.host)
        return host == name || host.hasSuffix("." + name)
      case .addresses(let prefix, let bits):
        guard let address = Self.address(origin.host), address.count == prefix.count else { return false }
        return (0..<bits).allSatisfy { bit in (address[bit / 8] ^ prefix[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0 }
      }
    }

    /// A name without the dots around it.
    private static func name(_ text: String) -> String {
      let rooted = text.hasSuffix(".") ? text.dropLast() : text[...]
      return String(rooted.hasPrefix(".") ? rooted.dropFirst() : rooted)
    }

    /// An entry's host and port; an IPv6 address has colons of its own.
    private static func split(_ entry: String) -> (host: String, port: Int?) {
      guard let colon = entry.lastIndex(of: ":"), let port = Int(entry[entry.index(after: colon)...]) else {
        return (entry, nil)
      }
      let host = String(entry[..<colon])
      return host.contains(":") && !host.hasSuffix("]") ? (entry, nil) : (host, port)
    }

    /// The bytes of an address; those of IPv4 also where they are written as IPv6 (RFC 4291 §2.5.5.2).
    private static func address(_ text: String) -> [UInt8]? {
      guard let bytes = AddressBytes.of(text) else { return nil }
      return bytes.starts(with: mappedPrefix) ? Array(bytes.dropFirst(12)) : bytes
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
  }
#endif
