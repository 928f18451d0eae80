#if NIO
  /// Whether a certificate is for the host that was asked for (RFC 9525 §6).
  ///
  /// Checked besides what the TLS library checks: that is content with an address in the certificate where a name was
  /// asked for, if it is the peer's address, and so with a proxy's.
  enum HostIdentity {
    /// A name that a certificate is for: only those in its subject's alternative names count.
    enum Name: Sendable, Hashable {
      case dns([UInt8])
      case address([UInt8])
    }

    /// - Parameters:
    ///   - host: a name, or an address with IPv6 in brackets.
    ///   - names: what the certificate is for.
    static func covers(_ host: String, names: [Name]) -> Bool {
      if let address = AddressBytes.of(host) { return names.contains(.address(address)) }
      var wanted = Array(host.utf8)
      if wanted.last == UInt8(ascii: ".") { wanted.removeLast() }
      return names.contains { name in
        guard case .dns(let pattern) = name else { return false }
        return matches(pattern, wanted)
      }
    }

    private static func matches(_ pattern: [UInt8], _ host: [UInt8]) -> Bool {
      let wanted = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      let given = pattern.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard given.count == wanted.count, let first = given.first, let label = wanted.first, !label.isEmpty else {
        return false
      }
      guard zip(given.dropFirst(), wanted.dropFirst()).allSatisfy({ isSame($0, $1) }) else { return false }
      // A wildcard stands for one whole label, the first, and never for most of a name.
      return first.elementsEqual("*".utf8) ? given.count > 2 : isSame(first, label)
    }

    /// Whether both are the same label, but for the case of letters.
    private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
      !one.isEmpty && one.elementsEqual(other) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
  }
#endif
