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
      let isThere = try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        switch unread {
        case .anything: peek(socket) != .nothing
        case .end: hasEnded(socket)
        }
      }
      return isThere ?? false
    }
  }

  private enum Peeked {
    case nothing, bytes, end
  }

  private func peek(_ socket: NIOBSDSocket.Handle) -> Peeked {
    var byte: UInt8 = 0
    switch recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) {
    case 0: return .end
    case 1...: return .bytes
    // A reset is an error here.
    default: return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? .nothing : .end
    }
  }

  /// Whether the peer has ended the connection, also where bytes stand before its end: the farewell of TLS, for one.
  private func hasEnded(_ socket: NIOBSDSocket.Handle) -> Bool {
    #if os(Linux)
      // POLLRDHUP of poll(2), which Swift's module of the C library does not show.
      var asked = pollfd(fd: socket, events: 0x2000, revents: 0)
      return poll(&asked, 1, 0) > 0
    #else
      return peek(socket) == .end
    #endif
  }
#endif
