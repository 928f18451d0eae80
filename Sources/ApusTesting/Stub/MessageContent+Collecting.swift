import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MessageContent {
  /// Returns all bytes, read from the file or the stream as a transport would.
  ///
  /// - Parameter onProgress: receives the number of bytes read so far.
  /// - Throws: `TransportError` if the file or the stream fails, or the length differs from the announced length;
  ///   `CancellationError`.
  func collected(onProgress: @Sendable (Int64) -> Void) async throws -> Data {
    let all: Data
    switch self {
    case .empty: return Data()
    case .bytes(let data):
      onProgress(Int64(data.count))
      return data
    case .file(let file):
      do {
        all = try Data(contentsOf: URL(fileURLWithPath: file.path))
      } catch {
        throw TransportError(
          .connectionLost, requestState: .notSent, detail: "the file could not be read", underlying: error
        )
        .attributed(to: .content)
      }
      onProgress(Int64(all.count))
    case .stream(let stream):
      all = try await Self.collected(stream, onProgress: onProgress)
    case .joined(let contents):
      var joined = Data()
      for content in contents {
        let before = Int64(joined.count)
        joined.append(try await content.collected { onProgress(before + $0) })
      }
      all = joined
    }
    if let length, length != Int64(all.count) {
      throw TransportError(
        .connectionLost, requestState: .maybeSent,
        detail: "the content has \(all.count) bytes, but \(length) were announced"
      ).attributed(to: .content)
    }
    return all
  }

  private static func collected(_ stream: ContentStream, onProgress: (Int64) -> Void) async throws -> Data {
    var all = Data()
    do {
      let next = try stream.makePieces()
      while let piece = try await next() {
        try Task.checkCancellation()
        all.append(piece)
        onProgress(Int64(all.count))
      }
    } catch  where !(error is CancellationError) {
      throw TransportError(
        .connectionLost, requestState: .maybeSent, detail: "the content broke off", underlying: error
      )
      .attributed(to: .content)
    }
    return all
  }
}
