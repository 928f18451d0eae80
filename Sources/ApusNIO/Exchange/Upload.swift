#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// Content on its way to a connection: asks for one piece at a time, when there is room for it.
  struct Upload: Sendable {
    typealias Pieces = @Sendable () async throws -> ContentPiece?

    let exchange: Exchange
    let connection: Connection
    let length: Int64?
    /// Starts a pass over the content.
    let makePieces: @Sendable () async throws -> Pieces

    /// Sends everything; returns early when the exchange is over.
    func run() async {
      do {
        let pieces = try await makePieces()
        var total: Int64 = 0
        while let piece = try await pieces() {
          guard piece.count > 0 else { continue }
          total += Int64(piece.count)
          if let length, total > length { throw LengthMismatch() }
          guard await connection.send(piece, of: exchange) else { return }
        }
        if let length, total < length { throw LengthMismatch() }
        connection.finishContent(of: exchange)
      } catch {
        connection.failContent(of: exchange, error)
      }
    }

    /// The content has another length than was announced.
    struct LengthMismatch: Error {}
  }

  extension MessageContent {
    /// Bytes that leave together with the head; more are sent in pieces.
    static let singleWriteLimit = 64 << 10

    /// How the content is sent in pieces; `nil` when there is none, or little enough for one write.
    func upload(of exchange: Exchange, on connection: Connection) -> Upload? {
      switch self {
      case .empty: return nil
      case .bytes(let data):
        guard data.count > Self.singleWriteLimit else { return nil }
        return Upload(exchange: exchange, connection: connection, length: length) { data.pieces(of: 256 << 10) }
      case .file(let file):
        return Upload(exchange: exchange, connection: connection, length: length) {
          let reader = try await FileReader.open(file)
          return { try await reader.next().map { .buffer($0) } }
        }
      case .stream(let stream):
        return Upload(exchange: exchange, connection: connection, length: length) {
          let pieces = try stream.makePieces()
          return { try await pieces().map { .data($0) } }
        }
      }
    }
  }

  extension Data {
    fileprivate func pieces(of size: Int) -> Upload.Pieces {
      let rest = Remaining(self)
      return { rest.next(size).map { .data($0) } }
    }
  }
#endif
