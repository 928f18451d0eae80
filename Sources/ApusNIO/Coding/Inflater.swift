import CApusZlib
import NIOCore

/// A decoder for one content coding, on the system's zlib.
///
/// A class, because zlib stores pointers into its state. Belongs to one event loop.
final class Inflater {
  private enum Stage {
    /// Too few bytes have arrived to detect the format.
    case unknown
    case inflating
    /// A gzip member has ended with a correct checksum; another member may follow.
    case betweenMembers
    /// Skipping bytes after the last member.
    case skipping
    case ended
  }

  private static let gzipWindow: Int32 = 15 + 16
  private static let zlibWindow: Int32 = 15
  private static let rawWindow: Int32 = -15
  /// The maximum number of bytes that are skipped after the last gzip member: 4 KiB.
  ///
  /// Some servers append line ends, padding or template comments to coded content. The content is complete and its
  /// checksum correct, so these bytes cannot be part of it.
  private static let mostSkipped: Int64 = 4 << 10

  private let coding: ContentCoding
  /// Whether bytes after the last gzip member are skipped.
  private let permitsTrailingBytes: Bool
  private let stream: UnsafeMutablePointer<z_stream>
  private var stage = Stage.unknown
  private var isInitialized = false
  /// The number of bytes read.
  private(set) var consumed: Int64 = 0
  /// The number of bytes produced.
  private(set) var produced: Int64 = 0
  /// The number of bytes skipped after the last gzip member.
  private(set) var skipped: Int64 = 0
  /// Whether zlib may produce more output without new input.
  private var hasMore = false

  init(_ coding: ContentCoding, permitsTrailingBytes: Bool) {
    (self.coding, self.permitsTrailingBytes) = (coding, permitsTrailingBytes && coding == .gzip)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isInitialized { inflateEnd(stream) }
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Decodes some of `input` into at most `capacity` bytes. Returns an empty buffer if more input is needed.
  func inflate(_ input: inout ByteBuffer, capacity: Int) throws(CodingError) -> ByteBuffer {
    var output = ByteBuffer()
    while output.readableBytes == 0 {
      switch stage {
      case .unknown:
        guard try begin(with: input) else { return output }
      case .inflating:
        guard input.readableBytes > 0 || hasMore else { return output }
        try inflateOnce(&input, &output, capacity)
      case .betweenMembers:
        guard try beginNext(with: input) else { return output }
      case .skipping:
        try skip(&input)
        return output
      case .ended:
        guard input.readableBytes == 0 else { throw Self.trailingBytes }
        return output
      }
    }
    return output
  }

  /// Ends the content and checks that the coding ended too. Empty content needs no coding.
  ///
  /// - Parameter rest: the input that was not read.
  func finish(_ rest: inout ByteBuffer) throws(CodingError) {
    switch stage {
    case .unknown where consumed == 0, .skipping, .ended: return
    // One byte may remain, because it could have begun another member.
    case .betweenMembers: try skip(&rest)
    case .unknown, .inflating: throw CodingError(.truncated, "the content ended inside its coding")
    }
  }

  /// Detects the format and prepares zlib. Returns whether enough input has arrived to detect the format.
  private func begin(with input: ByteBuffer) throws(CodingError) -> Bool {
    var window = Self.gzipWindow
    if coding == .deflate {
      guard let header = input.getInteger(at: input.readerIndex, as: UInt16.self) else {
        // A single byte stays in the input, and is added to `consumed` in case no other byte follows.
        if input.readableBytes > 0 { consumed = 1 }
        return false
      }
      // RFC 1950 §2.2: method 8, a window of at most 32 KiB, and a check that makes the two bytes a multiple of 31.
      let isZlib = header >> 8 & 0x0F == 8 && header >> 12 <= 7 && header % 31 == 0
      window = isZlib ? Self.zlibWindow : Self.rawWindow
    } else if input.readableBytes == 0 {
      return false
    }
    consumed = 0
    guard inflateInit2_(stream, window, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw CodingError(.outOfMemory, "there is no memory to decode with")
    }
    isInitialized = true
    stage = .inflating
    return true
  }

  /// Begins the next gzip member or, if no member follows, starts to skip. Returns whether enough input has arrived to
  /// decide.
  private func beginNext(with input: ByteBuffer) throws(CodingError) -> Bool {
    guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return false }
    if first == 0x1F, input.readableBytes == 1 { return false }
    // RFC 1952 §2.2: members follow each other, and each begins with these two bytes (§2.3.1).
    guard first == 0x1F, input.getInteger(at: input.readerIndex + 1, as: UInt8.self) == 0x8B else {
      stage = .skipping
      return true
    }
    guard inflateReset(stream) == Z_OK else { throw Self.malformed }
    stage = .inflating
    return true
  }

  private func skip(_ input: inout ByteBuffer) throws(CodingError) {
    guard input.readableBytes > 0 else { return }
    guard permitsTrailingBytes else { throw Self.trailingBytes }
    skipped += Int64(input.readableBytes)
    guard skipped <= Self.mostSkipped else {
      throw CodingError(.trailingBytes, "more than \(Self.mostSkipped) bytes follow the end of the coded content")
    }
    input.moveReaderIndex(to: input.writerIndex)
  }

  private static let trailingBytes = CodingError(.trailingBytes, "bytes follow the end of the coded content")
  private static let malformed = CodingError(.malformed, "the content is not in the format of its coding")

  private func inflateOnce(
    _ input: inout ByteBuffer, _ output: inout ByteBuffer, _ capacity: Int
  ) throws(CodingError) {
    // zlib counts with 32 bits.
    let offered = UInt32(clamping: input.readableBytes)
    var status = Z_OK
    let written = output.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { target in
      input.withUnsafeReadableBytes { source in
        // zlib only reads from this pointer, although its type is mutable.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: source.baseAddress)?.assumingMemoryBound(
          to: Bytef.self)
        stream.pointee.avail_in = offered
        stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = UInt32(clamping: min(capacity, target.count))
        status = CApusZlib.inflate(stream, Z_NO_FLUSH)
      }
      return min(capacity, target.count) - Int(stream.pointee.avail_out)
    }
    hasMore = stream.pointee.avail_out == 0
    let read = Int(offered - stream.pointee.avail_in)
    input.moveReaderIndex(forwardBy: read)
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    consumed += Int64(read)
    produced += Int64(written)
    switch status {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END:
      hasMore = false
      stage = coding == .gzip ? .betweenMembers : .ended
    case Z_MEM_ERROR: throw CodingError(.outOfMemory, "there is no memory to decode with")
    default: throw Self.malformed
    }
  }
}
