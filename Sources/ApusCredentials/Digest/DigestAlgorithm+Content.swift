import ApusCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DigestAlgorithm {
  /// Returns the hash of content, for `auth-int`, in lower-case hexadecimal digits.
  ///
  /// Files and replayable streams are read once more for this, off the caller's executor.
  ///
  /// - Throws: `TransportError` if a file cannot be read or has changed; the error of a stream; `CancellationError`.
  func hash(_ content: MessageContent) async throws -> String {
    switch content {
    case .empty: hash([])
    case .bytes(let data): hash(Array(data))
    case .file, .stream, .joined: try await hashOfPieces(content)
    }
  }

  @concurrent
  private func hashOfPieces(_ content: MessageContent) async throws -> String {
    var hasher = hasher
    try await hasher.update(content)
    return hasher.finalize()
  }
}

extension DigestHasher {
  fileprivate mutating func update(_ content: MessageContent) async throws {
    switch content {
    case .empty: break
    case .bytes(let data): update(data)
    case .file(let file): try await update(file)
    case .stream(let stream):
      let next = try stream.makePieces()
      while let piece = try await next() {
        try Task.checkCancellation()
        update(piece)
      }
    case .joined(let contents): for content in contents { try await update(content) }
    }
  }

  private mutating func update(_ data: Data) {
    data.withUnsafeBytes { update($0) }
  }

  /// Reads a file in pieces. Other tasks can run between two pieces.
  private mutating func update(_ file: ContentFile) async throws {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.fault("cannot be read") }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    var length: Int64 = 0
    while true {
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.fault("cannot be read") }
      guard count > 0 else { break }
      piece.withUnsafeBytes { update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      length += Int64(count)
      guard length <= file.length else { break }
      try Task.checkCancellation()
      await Task.yield()
    }
    guard length == file.length else { throw Self.fault("was changed after the call began") }
  }

  private static func fault(_ detail: String) -> TransportError {
    TransportError(.connectionLost, requestState: .notSent, detail: "the file to send \(detail)").attributed(
      to: .content)
  }
}
