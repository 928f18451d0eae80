#if NIO
  import NIOCore
  import NIOPosix

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// What is looked for in a socket that should be silent.
  enum Unread {
    /// Bytes, or the connection's end.
    case anything
    /// The connection's end alone: below TLS there may be bytes of its own.
    case end
  }

  extension ChannelPipeline.SynchronousOperations {
    /// Looks into the socket, without waiting and without taking anything.
    func hasUnread(_ unread: Unread) -> Bool {
      let count = try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, peeking)
      }
      guard let count else { return false }
      switch unread {
      case .anything: return count >= 0
      case .end: return count == 0
      }
    }
  }

  private let peeking = CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)
#endif
