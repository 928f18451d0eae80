#if NIO
  import NIOCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// A piece of content to send, in the form in which its source has it.
  enum ContentPiece: Sendable {
    case data(Data)
    case buffer(ByteBuffer)

    var count: Int {
      switch self {
      case .data(let data): data.count
      case .buffer(let buffer): buffer.readableBytes
      }
    }

    func write(to target: inout ByteBuffer) {
      switch self {
      case .data(let data): target.writeBytes(data)
      case .buffer(let buffer): target.writeImmutableBuffer(buffer)
      }
    }
  }
#endif
