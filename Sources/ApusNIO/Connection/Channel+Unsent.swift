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

  extension Channel {
    /// How many of the bytes that were written are still on this side: those that the channel keeps, and those in the
    /// system's buffer whose arrival the peer has not confirmed. A socket takes megabytes at once, however slowly they
    /// leave. On the channel's loop.
    var unsentBytes: Int {
      let kept = (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      let unconfirmed = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
        socket in
        var count: CInt = 0
        #if canImport(Darwin)
          var size = socklen_t(MemoryLayout<CInt>.size)
          return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? Int(count) : 0
        #else
          // SIOCOUTQ by its other name.
          return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        #endif
      }
      return kept + (unconfirmed ?? 0)
    }
  }
#endif
