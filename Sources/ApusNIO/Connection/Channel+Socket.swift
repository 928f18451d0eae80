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
  /// The number of written bytes that the peer has not acknowledged: bytes buffered by the channel and by the system. A
  /// socket accepts megabytes immediately, however slowly they leave. Read this property on the channel's loop.
  var unsentBytes: Int {
    let kept = (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    let unconfirmed = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      socket in
      var count: CInt = 0
      #if canImport(Darwin)
      var size = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? Int(count) : 0
      #else
      // On Linux, TIOCOUTQ has the same value as SIOCOUTQ.
      return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
      #endif
    }
    return kept + (unconfirmed ?? 0)
  }
}

extension ChannelPipeline.SynchronousOperations {
  /// The socket of the channel, or `nil` if the channel has none or is closed.
  var socket: NIOBSDSocket.Handle? { try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 } }
}

/// Returns whether unread input has arrived at a socket: bytes or the end of the connection. Neither blocks nor
/// consumes input.
func hasUnread(_ socket: NIOBSDSocket.Handle) -> Bool {
  var byte: UInt8 = 0
  if recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) >= 0 { return true }
  // A reset is reported as an error.
  return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
}
