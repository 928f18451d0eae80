#if NIO
  import NIOCore

  extension ByteBuffer {
    /// Takes all of `bytes` behind what is unread here, and releases what was read.
    ///
    /// A buffer that is only ever written to would keep all that has passed through it. Copies only what is unread.
    mutating func take(_ bytes: inout ByteBuffer) {
      guard bytes.readableBytes > 0 else { return }
      if readableBytes == 0 {
        self = bytes
        bytes = ByteBuffer()
      } else {
        discardReadBytes()
        writeBuffer(&bytes)
      }
    }
  }
#endif
