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

  extension ChannelPipeline.SynchronousOperations {
    /// Whether anything has arrived at the socket that nobody has read, bytes or the connection's end: looks without
    /// waiting and without taking anything.
    var hasUnread: Bool {
      let isThere = try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        var byte: UInt8 = 0
        if recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) >= 0 { return true }
        // A reset is an error here.
        return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
      }
      return isThere ?? false
    }
  }
#endif
