package import ApusCore
import ApusFiles
import Dispatch
package import Foundation

extension FileSlice {
  /// Reads all bytes and combines them into a value, on a thread that may block.
  ///
  /// Reading and combining alternate on one thread with one buffer, which stays in the cache of the thread's core.
  ///
  /// - Parameters:
  ///   - initial: the value before the first piece.
  ///   - combine: adds a piece to the value. The piece is valid only until the closure returns.
  /// - Throws: the error of ``open``, ``ContentChanged`` or an error of the system.
  package func reduced<Value: Sendable>(
    into initial: Value, _ combine: @escaping @Sendable (_ value: inout Value, _ piece: Data) -> Void
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
      DispatchQueue(label: "apus.transfers.slice").async {
        done.resume(with: Result { try readAll(into: initial, combine) })
      }
    }
  }

  private func readAll<Value>(into initial: Value, _ combine: (inout Value, Data) -> Void) throws -> Value {
    let file = try open()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 16)
    defer { memory.deallocate() }
    var (value, offset) = (initial, range.lowerBound)
    while offset < range.upperBound, let start = memory.baseAddress {
      let wanted = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(Int(range.upperBound - offset)))
      let received = try TransferError.converting { try Descriptor.read(file.descriptor, into: wanted, at: offset) }
      guard received > 0 else { throw ContentChanged() }
      combine(&value, Data(bytesNoCopy: start, count: received, deallocator: .none))
      offset += Int64(received)
    }
    try file.check()
    return value
  }

  private static var pieceLength: Int { 256 << 10 }
}
