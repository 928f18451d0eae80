public import Foundation

/// Calls a function with a copy of bytes in a heap allocation of exactly their size, so that the address sanitizer
/// detects an access beyond either end.
public func withExactCopy<Output>(
  of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Output
) rethrows -> Output {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
  defer { copy.deallocate() }
  copy.copyBytes(from: bytes)
  return try body(UnsafeRawBufferPointer(copy))
}

extension Data {
  /// Creates a copy of bytes in a heap allocation of exactly their size.
  public init(exactCopyOf bytes: some Collection<UInt8>) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    guard let start = copy.baseAddress, !bytes.isEmpty else {
      copy.deallocate()
      self.init()
      return
    }
    self.init(bytesNoCopy: start, count: bytes.count, deallocator: .custom { start, _ in start.deallocate() })
  }
}
