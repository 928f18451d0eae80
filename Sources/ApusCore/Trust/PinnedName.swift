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
