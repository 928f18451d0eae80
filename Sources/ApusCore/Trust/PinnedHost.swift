#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The public keys one of which must be in the chain of certificates that a host shows (RFC 7469 §2.4).
///
/// A chain that the system does not trust is refused even when a pin matches. Spelling does not decide whether a pin
/// counts: `API.example.com.`, `[::1]` and `0:0::1` match what they name, however the host that is dialed is written. A
/// pin counts at every port of its host.
public struct PinnedHost: Sendable, Hashable {
  /// The host's name: lower case, without a final dot, in ASCII; an IPv6 address in brackets, shortened (RFC 5952).
  public let host: String
  /// Whether names below that name are meant too, at any depth; for an address there are none. Default: no.
  public var includesSubdomains = false
  /// SHA-256 of the subject public key info of the key in use and of at least one other that the host could
  /// change to, each 32 bytes.
  public let keys: Set<Data>
  /// When the pins stop to count, so that an app that is never updated does not lose its server; from then on
  /// the system decides alone. `nil`: never. Default: `nil`.
  public var expiry: Date?

  /// Pins a host.
  ///
  /// - Parameters:
  ///   - host: its name or address alone: no scheme, port, path or wildcard. Case and a final dot do not count, and
  ///     names in other alphabets become ASCII.
  ///   - keys: SHA-256 of the key in use, in Base64 as `openssl` and browsers show it.
  ///   - backup: the same of keys in reserve.
  /// - Throws: ``PinError`` when `host` is none, so that the pin could never match; when a hash is not 32 bytes of
  ///   Base64; when there is no backup that differs: without one the loss of a key locks every client out.
  public init(_ host: String, keys: [String], backup: [String]) throws(PinError) {
    self.host = try PinnedName.pinning(host)
    var inUse = Set<Data>()
    for key in keys { inUse.insert(try Self.hash(key)) }
    var reserve = Set<Data>()
    for key in backup { reserve.insert(try Self.hash(key)) }
    guard !inUse.isEmpty else { throw PinError(reason: "no key is pinned for \(self.host)") }
    guard !reserve.subtracting(inUse).isEmpty else { throw PinError(reason: "\(self.host) has no backup key") }
    self.keys = inUse.union(reserve)
  }

  private static func hash(_ text: String) throws(PinError) -> Data {
    guard let hash = Data(base64Encoded: text), hash.count == 32 else {
      throw PinError(reason: "a pin is not the Base64 of a SHA-256")
    }
    return hash
  }

  /// Whether these pins are for a host, in the form of ``PinnedName/dialing(_:)``, and have not expired.
  fileprivate func isInForce(for name: String, at now: Date) -> Bool {
    if let expiry, now >= expiry { return false }
    return PinnedName.isName(name, atOrBelow: host, isBelowMeant: includesSubdomains)
  }
}

/// Pins that make no sense.
public struct PinError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Why, as half a sentence.
  public let reason: String
  /// The reason.
  public var description: String { "cannot pin: \(reason)" }
}

extension Sequence<PinnedHost> {
  /// Whether the host must show one of certain keys; for transports.
  ///
  /// - Parameters:
  ///   - host: the host that is asked for, however it is written; IPv6 with or without brackets.
  ///   - now: pins that have expired by then do not count.
  public func cover(_ host: String, at now: Date) -> Bool {
    let name = PinnedName.dialing(host)
    return contains { $0.isInForce(for: name, at: now) }
  }

  /// Whether a host that shows these keys is who it should be, as far as the pins say; for transports.
  ///
  /// - Parameters:
  ///   - keys: SHA-256 of the subject public key info of each certificate in the chain that was found good.
  ///   - host: the host that was asked for, however it is written; IPv6 with or without brackets.
  ///   - now: pins that have expired by then do not count.
  public func accept(_ keys: [Data], from host: String, at now: Date) -> Bool {
    let name = PinnedName.dialing(host)
    return lazy.filter { $0.isInForce(for: name, at: now) }.allSatisfy { pin in
      keys.contains { pin.keys.contains($0) }
    }
  }
}
