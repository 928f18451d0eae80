import Crypto

/// A hash algorithm of digest (RFC 7616 §3.3).
enum DigestAlgorithm: String, CaseIterable {
  case md5 = "MD5"
  case md5Session = "MD5-sess"
  case sha256 = "SHA-256"
  case sha256Session = "SHA-256-sess"
  case sha512256 = "SHA-512-256"
  case sha512256Session = "SHA-512-256-sess"

  /// Creates the algorithm with the name in a challenge, compared case-insensitively.
  ///
  /// - Parameter name: the name; `nil` if the challenge states no algorithm. In this case the algorithm is `MD5`.
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
  var isOfSession: Bool { self == .md5Session || self == .sha256Session || self == .sha512256Session }

  /// Whether the algorithm is one of the weak `MD5` algorithms.
  var isMD5: Bool { self == .md5 || self == .md5Session }

  /// A new hasher without input.
  var hasher: DigestHasher {
    switch self {
    case .md5, .md5Session: .md5(Insecure.MD5())
    case .sha256, .sha256Session: .sha256(SHA256())
    case .sha512256, .sha512256Session: .sha512256(SHA512256())
    }
  }

  /// Returns `H`, the hash of a text in UTF-8, in lower-case hexadecimal digits (RFC 7616 §3.2).
  func hash(_ text: String) -> String { hash(Array(text.utf8)) }

  /// Returns the hash of bytes, in lower-case hexadecimal digits.
  func hash(_ bytes: [UInt8]) -> String {
    var hasher = hasher
    bytes.withUnsafeBytes { hasher.update($0) }
    return hasher.finalize()
  }
}

/// A hash under construction.
enum DigestHasher {
  case md5(Insecure.MD5)
  case sha256(SHA256)
  case sha512256(SHA512256)

  /// Adds bytes.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .md5(var hash):
      hash.update(bufferPointer: bytes)
      self = .md5(hash)
    case .sha256(var hash):
      hash.update(bufferPointer: bytes)
      self = .sha256(hash)
    case .sha512256(var hash):
      hash.update(bytes)
      self = .sha512256(hash)
    }
  }

  /// Returns the hash in lower-case hexadecimal digits.
  func finalize() -> String {
    switch self {
    case .md5(let hash): Self.hexadecimal(hash.finalize())
    case .sha256(let hash): Self.hexadecimal(hash.finalize())
    case .sha512256(let hash): Self.hexadecimal(hash.finalize())
    }
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
