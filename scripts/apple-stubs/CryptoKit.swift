// A stub of Apple's CryptoKit for scripts/apple-check: one hash function.
public import Foundation

public struct SHA256Digest: Sequence, Sendable {
  public func makeIterator() -> IndexingIterator<[UInt8]> { [UInt8]().makeIterator() }
}

public enum SHA256 {
  public static func hash<Bytes: DataProtocol>(data: Bytes) -> SHA256Digest { SHA256Digest() }
}
