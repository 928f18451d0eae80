import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MessageContent {
  /// All bytes, made or read as a transport would; tells how many there are so far.
  ///
  /// - Throws: ``TransportError`` when there are more or fewer than announced; what the stream throws.
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
        throw TransportError(.broken, requestState: .notSent, detail: "the file cannot be read", underlying: error)
          .about(.content)
      }
      onProgress(Int64(all.count))
    case .stream(let stream):
      all = try await Self.collected(stream, onProgress: onProgress)
    }
    if let length, length != Int64(all.count) {
      throw TransportError(
        .broken, requestState: .maybeSent, detail: "the content has \(all.count) bytes, announced were \(length)"
      ).about(.content)
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
      throw TransportError(.broken, requestState: .maybeSent, detail: "the content broke off", underlying: error)
        .about(.content)
    }
    return all
  }
}
