#if Credentials
import ApusCore
import ApusMiddleware
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A digest challenge that can be answered (RFC 7616 §3.3).
struct DigestChallenge {
  let algorithm: DigestAlgorithm
  /// The algorithm as the server wrote it; `nil`: the server named no algorithm, and none is sent back.
  let algorithmName: String?
  let realm: String
  let nonce: String
  let opaque: String?
  /// Whether the server asks for the quality of protection `auth`.
  let isProtected: Bool
  /// Whether the server wants a hashed user name.
  let hashesUser: Bool
  /// Whether the server accepts names in UTF-8.
  let takesUTF8: Bool

  /// Parses a challenge; `nil`: it cannot be answered.
  ///
  /// Without a `qop` there is no client nonce. Such a challenge is answered only for `MD5`, as in RFC 2069: servers
  /// with a stronger algorithm send a `qop`, too.
  init?(_ challenge: Challenge, allowsMD5: Bool) {
    guard challenge.matches(scheme: "Digest"), let realm = challenge.realm, let nonce = challenge["nonce"],
      let algorithm = DigestAlgorithm(named: challenge["algorithm"]), allowsMD5 || !algorithm.isMD5
    else { return nil }
    if let protections = challenge["qop"] {
      guard Self.words(protections).contains("auth") else { return nil }
      isProtected = true
    } else {
      guard algorithm == .md5 else { return nil }
      isProtected = false
    }
    self.algorithm = algorithm
    algorithmName = challenge["algorithm"]
    self.realm = realm
    self.nonce = nonce
    opaque = challenge["opaque"]
    hashesUser = challenge["userhash"]?.lowercased() == "true"
    takesUTF8 = challenge["charset"]?.lowercased() == "utf-8"
  }

  /// The strength: the higher it is, the harder it is to find the password from a response.
  var strength: Int {
    if !algorithm.isMD5 { return 3 }
    return isProtected ? 2 : 1
  }

  private static func words(_ list: String) -> [String] {
    list.lowercased().utf8.split { ", \t".utf8.contains($0) }.map { String(Substring($0)) }
  }
}

/// A hash algorithm of digest (RFC 7616 §3.3).
///
/// `SHA-512-256` is missing, since swift-crypto does not have it.
enum DigestAlgorithm: String, CaseIterable {
  case md5 = "MD5"
  case md5Session = "MD5-sess"
  case sha256 = "SHA-256"
  case sha256Session = "SHA-256-sess"

  /// The algorithm with the name in a challenge, compared case-insensitively.
  ///
  /// - Parameter name: the name; `nil`: the challenge names none, which means `MD5`.
  init?(named name: String?) {
    guard let name else {
      self = .md5
      return
    }
    guard let algorithm = Self.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
      return nil
    }
    self = algorithm
  }

  /// Whether the key includes the first nonces of a session (RFC 7616 §3.4.2).
  var isOfSession: Bool { self == .md5Session || self == .sha256Session }

  /// Whether it is one of the weak `MD5` algorithms.
  var isMD5: Bool { self == .md5 || self == .md5Session }

  /// `H`: the hash of a text in UTF-8, in lower-case hexadecimal digits (RFC 7616 §3.2).
  func hash(_ text: String) -> String {
    let bytes = Array(text.utf8)
    return isMD5 ? Self.hexadecimal(Insecure.MD5.hash(data: bytes)) : Self.hexadecimal(SHA256.hash(data: bytes))
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]] }
    return String(decoding: text, as: UTF8.self)
  }
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

  /// The content of a quoted string (RFC 9110 §5.6.4).
  private static func escaped(_ value: String) -> String {
    var scalars = String.UnicodeScalarView()
    // By scalars: a quotation mark with a combining mark is one `Character`, but still ends the string.
    for scalar in value.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// The extended notation for any language (RFC 8187 §3.2.1).
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

  /// A number in lower-case hexadecimal digits, padded with zeros to the width of its type.
  static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.utf8.count) + digits
  }
}

/// The reason why a supported digest challenge is refused (RFC 7616 §5.8).
///
/// It is the cause of the `CallError` that such a call throws, with the code `refused`:
/// `error.underlying as? DigestRefusal`.
public enum DigestRefusal: Error, Sendable, Hashable {
  /// The server offers nothing stronger than `MD5`, over plain http to another machine. An eavesdropper could find a
  /// weak password from the response. `allowsMD5: true` accepts such servers.
  case weakAlgorithm
  /// The same server offered a stronger algorithm before: an attacker may have replaced its challenge.
  case downgrade
}

extension DigestRefusal: CustomStringConvertible {
  /// The reason as a clause, without any text from the server.
  public var description: String {
    switch self {
    case .weakAlgorithm:
      "the server offers digest with MD5 only, over plain http; allow it with allowsMD5: true, or use https"
    case .downgrade: "the server offers a weaker digest than before; the challenge may have been tampered with"
    }
  }

  /// The error of the attempt.
  var error: TransportError {
    TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
  }
}
#endif
