/// The rules for strings that become a part of a host, so that they cannot turn it into another host.
enum HostPart {
  /// Whether a text is a label of a host name (RFC 1123 §2.1) in lower case: 1 to 63 letters, digits and hyphens, with
  /// a letter or digit at both ends.
  static func isLabel(_ text: Substring) -> Bool {
    let bytes = text.utf8
    return (1...63).contains(bytes.count) && bytes.first != UInt8(ascii: "-") && bytes.last != UInt8(ascii: "-")
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  /// Whether a text consists of labels with a dot between them, as the rules for the names of buckets require.
  static func isName(_ text: String) -> Bool {
    text.utf8.count <= 63
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { isLabel(Substring($0)) }
  }
}

/// The name of a region as a part of host names.
enum RegionName {
  /// Whether a name has only the characters of regions.
  static func isValid(_ name: String) -> Bool { HostPart.isLabel(name[...]) }

  static func domain(of region: String) -> String {
    region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
  }
}
