/// The IP addresses that a transport may connect to.
///
/// A service that fetches untrusted URLs could otherwise be made to reach its own network: databases, the metadata
/// server of a cloud, other services on the machine. The policy is an option of a transport, which checks the addresses
/// that a name resolves to and connects only to allowed addresses, for every hop of a redirect. `NIOTransport` supports
/// it, except through a proxy, which resolves names itself. `URLSessionTransport` does not know addresses and refuses
/// every message.
public struct AddressPolicy: Sendable, Hashable {
  private let isPublicOnly: Bool

  /// Every address.
  public static let any = AddressPolicy(isPublicOnly: false)

  /// Only addresses that are reachable from the whole internet: no loopback, private, link-local, shared, multicast,
  /// documentation or reserved addresses (IANA special-purpose registries, RFC 6890), and no metadata servers of
  /// clouds.
  public static let publicOnly = AddressPolicy(isPublicOnly: true)

  /// Whether an address is allowed.
  ///
  /// - Parameter bytes: the 4 or 16 bytes of the address, in network order.
  package func allows(_ bytes: [UInt8]) -> Bool {
    !isPublicOnly || Self.isPublic(bytes)
  }

  private static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch bytes.count {
    case 4: return !privateIPv4.contains { $0.contains(bytes) }
    case 16:
      // IPv4 addresses in IPv6: mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1).
      if embeddingIPv4.contains(where: { $0.contains(bytes) }) { return isPublic(Array(bytes[12...])) }
      return globalIPv6.contains(bytes) && !specialIPv6.contains { $0.contains(bytes) }
    default: return false
    }
  }

  /// A range of addresses with a common prefix.
  private struct Block: Sendable {
    let prefix: [UInt8]
    let length: Int

    init(_ prefix: UInt8..., length: Int) {
      self.prefix = prefix
      self.length = length
    }

    func contains(_ bytes: [UInt8]) -> Bool {
      for (index, byte) in prefix.enumerated() {
        let bits = min(8, length - 8 * index)
        let mask = bits <= 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        guard bytes[index] & mask == byte & mask else { return false }
      }
      return true
    }
  }

  private static let privateIPv4 = [
    Block(0, length: 8), Block(10, length: 8), Block(100, 64, length: 10), Block(127, length: 8),
    Block(169, 254, length: 16), Block(172, 16, length: 12), Block(192, 0, 0, length: 24), Block(192, 0, 2, length: 24),
    Block(192, 88, 99, length: 24), Block(192, 168, length: 16), Block(198, 18, length: 15),
    Block(198, 51, 100, length: 24), Block(203, 0, 113, length: 24), Block(224, length: 4), Block(240, length: 4),
    // The platform server of Azure, which virtual machines reach at a public address.
    Block(168, 63, 129, 16, length: 32),
  ]

  private static let embeddingIPv4 = [
    Block(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, length: 96),
    Block(0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0, length: 96),
  ]

  /// The only block from which global unicast addresses are assigned (RFC 4291 §2.4).
  private static let globalIPv6 = Block(0x20, length: 3)

  /// Blocks of ``globalIPv6`` that are not global: protocol assignments with Teredo, documentation, 6to4.
  private static let specialIPv6 = [
    Block(0x20, 0x01, 0x00, length: 23), Block(0x20, 0x01, 0x0D, 0xB8, length: 32), Block(0x20, 0x02, length: 16),
    Block(0x3F, 0xFF, 0x00, length: 20),
  ]
}

/// The reason why a message was not sent to its destination, as the cause of a ``CallError`` with the code `refused`:
/// `error.underlying as? DestinationRefusal`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum DestinationRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The origin is not in the client's allow-list.
  case origin
  /// The host has no address that the ``AddressPolicy`` of the transport allows.
  case address
  /// The addresses cannot be checked: a proxy resolves the name, or the transport does not know addresses.
  case uncheckedAddress

  /// The reason as a clause.
  public var description: String {
    switch self {
    case .origin: "the origin is not allowed"
    case .address: "the host has no address that the address policy allows"
    case .uncheckedAddress: "the address policy cannot be checked here"
    }
  }

  /// The error for an exchange that was refused for this reason.
  package var error: TransportError {
    TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
  }
}
