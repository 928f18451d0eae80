import NIOCore

extension ByteBuffer {
  /// Appends all of `bytes` to the unread bytes of this buffer, and frees the bytes already read.
  ///
  /// A buffer that is only appended to would retain all bytes ever written to it. Copies only unread bytes.
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
