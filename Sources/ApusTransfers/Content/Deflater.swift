import CApusZlib
import Foundation
import Synchronization

/// An encoder of the content coding gzip (RFC 1952), on the system's zlib.
final class Deflater: Sendable {
  private static let gzipWindow: Int32 = 15 + 16
  private static let memoryLevel: Int32 = 8
  private static let outputLength = 64 << 10

  /// The state of zlib, which must not move, because zlib stores pointers into it.
  private struct Stream: ~Copyable {
    let pointer: UnsafeMutablePointer<z_stream>

    init() {
      pointer = .allocate(capacity: 1)
      pointer.initialize(to: z_stream())
    }

    deinit {
      deflateEnd(pointer)
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }

  /// The error that reports that there is no memory for the encoder.
  struct OutOfMemory: Error {}

  private let stream: Mutex<Stream>

  /// The maximum number of bytes that zlib receives in one call, because zlib counts with 32 bits.
  private let inputLength: Int

  /// - Parameters:
  ///   - level: from 1, the fastest, to 9, the smallest.
  ///   - inputLength: the maximum number of bytes that zlib receives in one call. Default: 1 GiB.
  init(level: Int, inputLength: Int = 1 << 30) throws {
    self.inputLength = inputLength
    let stream = Stream()
    let status = deflateInit2_(
      stream.pointer, Int32(min(max(level, 1), 9)), Z_DEFLATED, Self.gzipWindow, Self.memoryLevel,
      Z_DEFAULT_STRATEGY, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw OutOfMemory() }
    self.stream = Mutex(stream)
  }

  /// Encodes a piece. Returns the bytes that are complete, possibly none.
  func encode(_ piece: Data) -> Data {
    guard piece.count > inputLength else { return deflate(piece, Z_NO_FLUSH) }
    var (encoded, rest) = (Data(), piece)
    while !rest.isEmpty {
      encoded += deflate(rest.prefix(inputLength), Z_NO_FLUSH)
      rest = rest.dropFirst(inputLength)
    }
    return encoded
  }

  /// Ends the content. Returns the remaining bytes.
  func finish() -> Data { deflate(Data(), Z_FINISH) }

  private func deflate(_ piece: Data, _ flush: Int32) -> Data {
    stream.withLock { stream in
      let zlib = stream.pointer
      var encoded = Data()
      piece.withUnsafeBytes { source in
        // zlib only reads from this pointer, although its type is mutable.
        let input = UnsafeMutableRawPointer(mutating: source.baseAddress)
        zlib.pointee.next_in = input?.assumingMemoryBound(to: Bytef.self)
        zlib.pointee.avail_in = UInt32(clamping: source.count)
        withUnsafeTemporaryAllocation(byteCount: Self.outputLength, alignment: 1) { target in
          repeat {
            zlib.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
            zlib.pointee.avail_out = UInt32(target.count)
            CApusZlib.deflate(zlib, flush)
            encoded.append(contentsOf: target.prefix(target.count - Int(zlib.pointee.avail_out)))
          } while zlib.pointee.avail_out == 0
        }
        (zlib.pointee.next_in, zlib.pointee.next_out) = (nil, nil)
      }
      return encoded
    }
  }
}
