import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The header of a sealed file: its version and the kind of its key.
///
/// | bytes | |
/// |---|---|
/// | 8 | `ApusCred` |
/// | 1 | the version, 1 |
/// | 1 | the kind of key: 0 a key file, 1 a passphrase |
/// | 4 | rounds of the derivation, big-endian |
/// | 16 | salt of the derivation |
///
/// The header is followed by a nonce of 12 bytes, the encrypted content and a tag of 16 bytes (AES-256-GCM); the tag
/// covers the header too.
enum SealHeader: Hashable, Sendable {
  case keyFile
  case passphrase(salt: [UInt8], rounds: UInt32)

  private static let mark = Array("ApusCred".utf8)
  private static let version: UInt8 = 1
  private static let length = 30

  private var bytes: [UInt8] {
    var bytes = Self.mark
    bytes.append(Self.version)
    switch self {
    case .keyFile: bytes.append(contentsOf: [UInt8](repeating: 0, count: Self.length - bytes.count))
    case .passphrase(let salt, let rounds):
      bytes.append(1)
      withUnsafeBytes(of: rounds.bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: salt)
    }
    return bytes
  }

  /// Parses the header of a file. Returns `nil` if the file has another format or a later version.
  init?(of file: [UInt8]) {
    let header = Array(file.prefix(Self.length))
    guard header.count == Self.length, header.starts(with: Self.mark), header[8] == Self.version else { return nil }
    switch header[9] {
    case 0: self = .keyFile
    case 1:
      let rounds = header[10..<14].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard 1...PassphraseKey.maximumRounds ~= rounds else { return nil }
      self = .passphrase(salt: Array(header[14...]), rounds: rounds)
    default: return nil
    }
  }

  /// Returns a file with this header and sealed content, with a new nonce.
  func sealed(_ content: Data, with key: SymmetricKey) throws -> [UInt8] {
    var file = bytes
    let box = try AES.GCM.seal(content, using: key, authenticating: file)
    file.append(contentsOf: box.nonce)
    file.append(contentsOf: box.ciphertext)
    file.append(contentsOf: box.tag)
    return file
  }

  /// Returns the content of a file with this header; `nil` if the key is wrong or the file is damaged.
  func opened(_ file: [UInt8], with key: SymmetricKey) -> Data? {
    guard let box = try? AES.GCM.SealedBox(combined: file.dropFirst(Self.length)) else { return nil }
    // Authenticates the bytes of the file itself, so that unused bits are covered, too.
    return try? AES.GCM.open(box, using: key, authenticating: file.prefix(Self.length))
  }
}
