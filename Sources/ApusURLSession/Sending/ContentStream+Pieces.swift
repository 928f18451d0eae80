import ApusCore
import Foundation

extension ContentStream {
  /// Makes all pieces of one pass, and checks that they are as long as was announced.
  ///
  /// - Parameter take: takes a piece; answers whether more is wanted.
  /// - Throws: what making or taking a piece throws; ``TransportError`` when the length is another one.
  func makeAll(_ take: (Data) async throws -> Bool) async throws {
    let next = try makePieces()
    var total: Int64 = 0
    while let piece = try await next() {
      total += Int64(piece.count)
      if let length, total > length { throw Self.wrongLength(length) }
      guard try await take(piece) else { return }
    }
    if let length, total != length { throw Self.wrongLength(length) }
  }

  private static func wrongLength(_ length: Int64) -> TransportError {
    TransportError(
      .broken, requestState: .maybeSent,
      detail: "the content to send does not have the \(length) bytes that were announced"
    ).about(.content)
  }
}
