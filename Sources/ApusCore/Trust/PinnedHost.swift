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

/// The form in which hosts are compared with pinned hosts: lower case, without the final dot of a rooted name, names in
/// other alphabets in their ASCII form, addresses in one spelling.
enum PinnedName {
  /// The form of a host to pin.
  ///
  /// - Throws: ``PinError`` for what no host that is dialed can be equal to. The error does not repeat the text, which
  ///   may be a URL with a password.
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

  /// The form of a host that is dialed.
  ///
  /// A host that is none is only put into lower case: no pin is equal to it.
  static func dialing(_ text: String) -> String {
    if let form = IPv6.canonical(text) ?? normalized(text) { return form }
    return unrooted(String(decoding: text.utf8.map(\.lowercased), as: UTF8.self))
  }

  /// Whether a name is `host`, or below it.
  static func isName(_ name: String, atOrBelow host: String, isBelowMeant: Bool) -> Bool {
    // Bytes, so that no mark behind a dot hides the dot.
    let (name, host) = (name.utf8, host.utf8)
    if name.elementsEqual(host) { return true }
    guard isBelowMeant, name.count > host.count + 1 else { return false }
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

extension UInt8 {
  fileprivate var lowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}

extension IPv6 {
  /// An address in the one spelling of RFC 5952, in brackets; an IPv4 address that is written as one of IPv6 (RFC 4291
  /// §2.5.5.2) as IPv4. `nil` for anything but an IPv6 address, with brackets or without.
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

  /// The eight groups of an address without brackets; `nil` for anything else.
  private static func groups(of text: String) -> [UInt16]? {
    guard isValid(text) else { return nil }
    // Of ASCII characters alone from here.
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

  /// The first of the longest runs of at least two zeros (RFC 5952 §4.2).
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
