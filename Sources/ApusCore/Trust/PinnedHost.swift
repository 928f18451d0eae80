#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The pinned public keys of a host. One of them must be in the host's certificate chain (RFC 7469 §2.4).
///
/// A chain that the system does not trust is rejected even if a pin matches. Pins apply to all ports of a host. Hosts
/// are compared in normalized form, so that the spelling does not matter: `API.example.com.` matches `api.example.com`,
/// and `0:0::1` matches `[::1]`.
public struct PinnedHost: Sendable, Hashable {
  /// The normalized host: a name in lower-case ASCII without a trailing dot, or an address. IPv6 addresses are
  /// shortened (RFC 5952) and in brackets.
  public let host: String
  /// Whether the pins also apply to subdomains, at any depth. Default: `false`.
  public var includesSubdomains = false
  /// The SHA-256 hashes of the pinned keys' subject public key info, 32 bytes each.
  public let keys: Set<Data>
  /// The date from which the pins no longer apply and only the system's trust decides, so that an app that is never
  /// updated can still connect. Default: `nil`, never.
  public var expiry: Date?

  /// Pins the keys of a host.
  ///
  /// - Parameters:
  ///   - host: a name or an address without scheme, port, path and wildcard. Case and a trailing dot do not matter, and
  ///     internationalized names are converted to ASCII.
  ///   - keys: the SHA-256 hashes of the keys in use, in Base64 as shown by `openssl` and browsers.
  ///   - backup: the hashes of backup keys. Without a backup, the loss of a key would lock out all clients.
  /// - Throws: an error with a description if `host` is not a host, a hash is not 32 bytes of Base64, `keys` is empty,
  ///   or `backup` contains only keys that are also in `keys`.
  public init(_ host: String, keys: [String], backup: [String]) throws {
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

  /// Whether the pins apply to a host in the form of ``PinnedName/connecting(to:)`` and have not expired.
  fileprivate func isInForce(for name: String, at now: Date) -> Bool {
    if let expiry, now >= expiry { return false }
    return PinnedName.isName(name, atOrBelow: host, includesSubdomains: includesSubdomains)
  }
}

/// An error in the arguments of ``PinnedHost``.
struct PinError: Error, Hashable, CustomStringConvertible {
  /// The reason as a clause.
  let reason: String

  var description: String { "cannot pin: \(reason)" }
}

extension Sequence<PinnedHost> {
  /// Whether pins apply to a host.
  ///
  /// - Parameters:
  ///   - host: the host of the connection in any spelling, IPv6 with or without brackets.
  ///   - now: the current time. Expired pins do not apply.
  package func covers(_ host: String, at now: Date) -> Bool {
    let name = PinnedName.connecting(to: host)
    return contains { $0.isInForce(for: name, at: now) }
  }

  /// Whether the keys of a host match its pins. `true` if no pins apply.
  ///
  /// - Parameters:
  ///   - keys: the SHA-256 hashes of the subject public key info of each certificate in the verified chain.
  ///   - host: the host of the connection in any spelling, IPv6 with or without brackets.
  ///   - now: the current time. Expired pins do not apply.
  package func accepts(_ keys: [Data], from host: String, at now: Date) -> Bool {
    let name = PinnedName.connecting(to: host)
    return lazy.filter { $0.isInForce(for: name, at: now) }.allSatisfy { pin in
      keys.contains { pin.keys.contains($0) }
    }
  }
}

/// Normalization of hosts for comparison with pinned hosts: ASCII in lower case without a trailing dot, addresses in
/// their canonical form.
enum PinnedName {
  /// Returns the normalized form of a host to pin.
  ///
  /// - Throws: ``PinError`` if no connection could ever match. The error does not contain the text, which may be a URL
  ///   with a password.
  static func pinning(_ text: String) throws(PinError) -> String {
    guard !text.isEmpty else { throw PinError(reason: "the host is empty") }
    if let address = IPv6.canonical(text) { return address }
    let bytes = text.utf8
    guard !bytes.contains(UInt8(ascii: "/")) else {
      throw PinError(reason: "a URL is not a host; pin the host alone")
    }
    guard !bytes.contains(UInt8(ascii: "*")) else {
      throw PinError(reason: "a wildcard is not a host; pin the name below it and set includesSubdomains")
    }
    guard !bytes.contains(UInt8(ascii: ":")) else {
      throw PinError(reason: "a pin is for a host at any port; pin the host alone")
    }
    guard let name = normalized(text) else { throw PinError(reason: "the host is neither a name nor an address") }
    return name
  }

  /// Returns the normalized form of the host of a connection. An invalid host is only converted to lower case and
  /// matches no pin.
  static func connecting(to text: String) -> String {
    if let form = IPv6.canonical(text) ?? normalized(text) { return form }
    return unrooted(String(decoding: text.utf8.map(\.asciiLowercased), as: UTF8.self))
  }

  /// Whether a name is `host` or, if included, one of its subdomains.
  static func isName(_ name: String, atOrBelow host: String, includesSubdomains: Bool) -> Bool {
    // Compares bytes, because a combining mark after a dot would hide the dot.
    let (name, host) = (name.utf8, host.utf8)
    if name.elementsEqual(host) { return true }
    guard includesSubdomains, name.count > host.count + 1 else { return false }
    let tail = name.suffix(host.count + 1)
    return tail.first == UInt8(ascii: ".") && tail.dropFirst().elementsEqual(host)
  }

  private static func normalized(_ text: String) -> String? {
    (try? Host.normalized(text[...])).map { unrooted($0) }
  }

  private static func unrooted(_ name: String) -> String {
    name.utf8.last == UInt8(ascii: ".") ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
  }
}

extension IPv6 {
  /// Returns the canonical form of an IPv6 address (RFC 5952) in brackets. The address may lack the brackets. `nil` for
  /// other text.
  ///
  /// An IPv4-mapped address (RFC 4291 §2.5.5.2) becomes an IPv4 address.
  static func canonical(_ text: String) -> String? {
    let bytes = text.utf8
    let isBracketed = bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]") && bytes.count > 1
    guard
      let groups = groups(of: String(decoding: isBracketed ? bytes.dropFirst().dropLast() : bytes[...], as: UTF8.self))
    else { return nil }
    if groups.prefix(6) == [0, 0, 0, 0, 0, 0xFFFF] {
      return groups.suffix(2).map { "\($0 >> 8).\($0 & 0xFF)" }.joined(separator: ".")
    }
    guard let zeros = longestZeros(in: groups) else { return "[\(hexadecimal(groups[...]))]" }
    return "[\(hexadecimal(groups[..<zeros.lowerBound]))::\(hexadecimal(groups[zeros.upperBound...]))]"
  }

  /// Returns the eight groups of an address without brackets, or `nil` for other text.
  private static func groups(of text: String) -> [UInt16]? {
    guard isValid(text) else { return nil }
    // Valid text is ASCII.
    guard let gap = text.firstRange(of: "::") else { return groups(in: text[...]) }
    let (front, back) = (groups(in: text[..<gap.lowerBound]), groups(in: text[gap.upperBound...]))
    return front + [UInt16](repeating: 0, count: max(0, 8 - front.count - back.count)) + back
  }

  private static func groups(in text: Substring) -> [UInt16] {
    text.split(separator: ":").flatMap { part -> [UInt16] in
      let numbers = part.split(separator: ".").compactMap { UInt16($0) }
      return numbers.count == 4
        ? [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]] : [UInt16(part, radix: 16) ?? 0]
    }
  }

  /// Returns the first of the longest runs of at least two zeros (RFC 5952 §4.2).
  private static func longestZeros(in groups: [UInt16]) -> Range<Int>? {
    var longest = 0..<0
    var start = 0
    for end in 1...groups.count where end == groups.count || groups[end] != 0 {
      while start < end, groups[start] != 0 { start += 1 }
      if end - start > longest.count { longest = start..<end }
      start = end
    }
    return longest.count > 1 ? longest : nil
  }

  private static func hexadecimal(_ groups: ArraySlice<UInt16>) -> String {
    groups.map { String($0, radix: 16) }.joined(separator: ":")
  }
}
