import ApusCore
import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A digest challenge to which this client can respond (RFC 7616 §3.3).
struct DigestChallenge {
  let algorithm: DigestAlgorithm
  /// The algorithm as the server wrote it; `nil` if the server stated no algorithm, so that the response states none.
  let algorithmName: String?
  let realm: String
  let nonce: String
  let opaque: String?
  /// The supported qualities of protection that the server offers. Empty if the server offers none, as in RFC 2069.
  let qualities: Set<DigestQuality>
  /// Whether the server requests a hashed user name.
  let hashesUser: Bool
  /// Whether the server accepts names in UTF-8.
  let acceptsUTF8: Bool

  /// Parses a challenge. Returns `nil` if the client cannot respond to it.
  ///
  /// Without a `qop` the response has no client nonce. The client responds to such a challenge only for `MD5`, as in
  /// RFC 2069, because servers with a stronger algorithm send a `qop`.
  init?(_ challenge: Challenge, allowsMD5: Bool) {
    guard challenge.matches(scheme: "Digest"), let realm = challenge.realm, let nonce = challenge["nonce"],
      let algorithm = DigestAlgorithm(named: challenge["algorithm"]), allowsMD5 || !algorithm.isMD5
    else { return nil }
    if let protections = challenge["qop"] {
      qualities = Set(Self.words(protections).compactMap { DigestQuality(rawValue: $0) })
      guard !qualities.isEmpty else { return nil }
    } else {
      guard algorithm == .md5 else { return nil }
      qualities = []
    }
    self.algorithm = algorithm
    algorithmName = challenge["algorithm"]
    self.realm = realm
    self.nonce = nonce
    opaque = challenge["opaque"]
    hashesUser = challenge["userhash"]?.lowercased() == "true"
    acceptsUTF8 = challenge["charset"]?.lowercased() == "utf-8"
  }

  /// Whether the server requests a quality of protection.
  var isProtected: Bool { !qualities.isEmpty }

  /// Returns the quality of protection of a message; `nil` if the server offers no quality that is possible for this
  /// content.
  ///
  /// Content that can be read only once is never hashed. For a message without content, `auth-int` would protect no
  /// more than `auth`.
  func quality(for content: MessageContent) -> DigestQuality? {
    if qualities.contains(.authInt), content.isReplayable, !content.isEmpty || !qualities.contains(.auth) {
      return .authInt
    }
    return qualities.contains(.auth) ? .auth : nil
  }

  /// The strength. The higher the strength, the harder the password is to derive from a response.
  var strength: Int {
    if !algorithm.isMD5 { return 3 }
    return isProtected ? 2 : 1
  }

  private static func words(_ list: String) -> [String] {
    list.lowercased().utf8.split { ", \t".utf8.contains($0) }.map { String(Substring($0)) }
  }
}

/// A quality of protection (RFC 7616 §3.3).
enum DigestQuality: String, Hashable {
  /// The method and the request target are protected.
  case auth
  /// The content is protected, too.
  case authInt = "auth-int"
}

/// The value of an `Authorization` field under construction (RFC 7616 §3.4).
struct DigestText {
  private(set) var text = "Digest"
  private var isEmpty = true

  /// Adds a parameter without quotes: `algorithm`, `qop`, `nc`, `userhash` and `username*`.
  mutating func add(_ name: String, _ value: String) {
    text += "\(isEmpty ? " " : ", ")\(name)=\(value)"
    isEmpty = false
  }

  /// Adds a parameter in quotes: `username`, `realm`, `nonce`, `uri`, `response`, `cnonce` and `opaque`.
  mutating func add(_ name: String, quoting value: String) {
    add(name, "\"\(Self.escaped(value))\"")
  }

  /// Returns the content of a quoted string (RFC 9110 §5.6.4).
  private static func escaped(_ value: String) -> String {
    var scalars = String.UnicodeScalarView()
    // Iterates over scalars: a quotation mark with a combining mark is one `Character`, but still ends the string.
    for scalar in value.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Returns the extended notation for any language (RFC 8187 §3.2.1).
  static func extended(_ value: String) -> String {
    var text = "UTF-8''"
    for byte in value.utf8 {
      if isPlain(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + hexadecimal(byte).uppercased()
      }
    }
    return text
  }

  /// Whether a byte needs no escape in the extended notation (`attr-char`).
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "!#$&+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Returns a number in lower-case hexadecimal digits, padded with zeros to the width of its type.
  static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.utf8.count) + digits
  }
}
