#if Credentials
  import Crypto

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What hashes names and passwords (RFC 7616 §3.3).
  ///
  /// `SHA-512-256` is left out: the library that hashes does not have it.
  enum DigestAlgorithm: String, CaseIterable {
    case md5 = "MD5"
    case md5Session = "MD5-sess"
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"

    /// An algorithm by the name that a challenge has for it, in any case.
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

    /// Whether name and password are hashed together with the first nonces of a session (RFC 7616 §3.4.2).
    var isOfSession: Bool { self == .md5Session || self == .sha256Session }

    /// Whether it is the weak one.
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
#endif
