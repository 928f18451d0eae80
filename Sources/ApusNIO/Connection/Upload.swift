import ApusCore
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Content that is being sent on a connection. Requests one piece at a time, when there is buffer space for it.
struct Upload: Sendable {
  typealias Pieces = @Sendable () async throws -> ContentPiece?

  let exchange: Exchange
  let connection: Connection
  let length: Int64?
  /// Whether the content is produced without code of the app. Code of the app may compute or block.
  let runsNoForeignCode: Bool
  /// Starts a pass over the content.
  let makePieces: @Sendable () async throws -> Pieces

  /// The maximum number of bytes in one write, because a buffer's length has 32 bits. Larger pieces are split.
  private static let maximumWrite = 1 << 30

  /// The maximum wait for 100 (Continue). A server that does not support `Expect` never sends it (RFC 9110 §10.1.1).
  static let continueLimit = TimeAmount.seconds(1)

  /// Starts to send the content.
  ///
  /// - Parameter executor: an executor on the event loop, where no piece needs a change of threads before it is
  ///   written. Not used for content of the app, whose code may compute or block.
  func start(on executor: (any TaskExecutor)?) -> Task<Void, Never> {
    let executor = runsNoForeignCode ? executor : nil
    return exchange.context.spawn {
      await withTaskExecutorPreference(executor) { await sendPieces() }
    }
  }

  /// Returns the error of an exchange whose content could not be produced.
  static func failure(_ error: any Error, requestState: RequestState) -> TransportError {
    let detail =
      switch error {
      case is LengthMismatch: "the content is longer or shorter than announced"
      case FileFault.unreadable: "the file to send cannot be read"
      case FileFault.changed: "the file to send was changed after the call began"
      default: "the content to send could not be produced"
      }
    return TransportError(.connectionLost, requestState: requestState, detail: detail, underlying: error)
      .attributed(to: .content)
  }

  /// Sends all pieces. Returns early if the exchange ends.
  func sendPieces() async {
    do {
      let pieces = try await makePieces()
      var total: Int64 = 0
      while let piece = try await pieces() {
        guard piece.count > 0 else { continue }
        total += Int64(piece.count)
        if let length, total > length { throw LengthMismatch() }
        guard piece.count > Self.maximumWrite else {
          guard await connection.writePiece(piece, of: exchange) else { return }
          continue
        }
        for part in piece.parts(of: Self.maximumWrite) {
          guard await connection.writePiece(part, of: exchange) else { return }
        }
      }
      if let length, total < length { throw LengthMismatch() }
      connection.finishContent(of: exchange)
    } catch {
      connection.failContent(of: exchange, error)
    }
  }

  /// The error of content that is longer or shorter than announced.
  struct LengthMismatch: Error {}
}

extension MessageContent {
  /// The maximum number of content bytes sent together with the head. Longer content is sent in pieces.
  static let singleWriteLimit = 64 << 10

  /// Returns an upload that sends the content in pieces; `nil` if there is no content, or if it fits into one write.
  func upload(of exchange: Exchange, on connection: Connection) -> Upload? {
    switch self {
    case .empty: return nil
    case .bytes(let data) where data.count <= Self.singleWriteLimit: return nil
    default:
      return Upload(
        exchange: exchange, connection: connection, length: length, runsNoForeignCode: runsNoForeignCode,
        makePieces: makePieces)
    }
  }

  private var runsNoForeignCode: Bool {
    switch self {
    case .empty, .bytes, .file: true
    case .stream(let stream): stream.slice != nil
    case .joined(let contents): contents.allSatisfy(\.runsNoForeignCode)
    }
  }

  private var makePieces: @Sendable () async throws -> Upload.Pieces {
    switch self {
    case .empty: return { { nil } }
    case .bytes(let data): return { data.pieces(of: 256 << 10) }
    case .file(let file): return Self.pieces(of: FileSlice(file))
    case .stream(let stream):
      if let slice = stream.slice { return Self.pieces(of: slice) }
      return {
        let pieces = try stream.makePieces()
        return { try await pieces().map { .data($0) } }
      }
    case .joined(let contents):
      return {
        let pieces = JoinedPieces(contents.map(\.makePieces))
        return { try await pieces.next() }
      }
    }
  }

  private static func pieces(of slice: FileSlice) -> @Sendable () async throws -> Upload.Pieces {
    {
      let reader = try await FileReader.open(slice)
      return { try await reader.next().map { .buffer($0) } }
    }
  }
}

extension Data {
  fileprivate func pieces(of size: Int) -> Upload.Pieces {
    let rest = Remaining(self)
    return { rest.next(size).map { .data($0) } }
  }
}

/// A piece of content, in the form that its source provides.
enum ContentPiece: Sendable {
  case data(Data)
  case buffer(ByteBuffer)

  var count: Int {
    switch self {
    case .data(let data): data.count
    case .buffer(let buffer): buffer.readableBytes
    }
  }

  /// Splits the piece into parts of at most `length` bytes.
  func parts(of length: Int) -> [ContentPiece] {
    switch self {
    case .data(let data):
      stride(from: 0, to: data.count, by: length).map { .data(data.dropFirst($0).prefix(length)) }
    // A buffer's length has 32 bits, so it never needs to be split.
    case .buffer: [self]
    }
  }

  func write(to target: inout ByteBuffer) {
    switch self {
    case .data(let data): target.writeBytes(data)
    case .buffer(let buffer): target.writeImmutableBuffer(buffer)
    }
  }
}

/// Bytes that are delivered piece by piece.
private final class Remaining: Sendable {
  private let rest: Mutex<Data>

  init(_ data: Data) {
    rest = Mutex(data)
  }

  func next(_ count: Int) -> Data? {
    rest.withLock { rest in
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }
}
