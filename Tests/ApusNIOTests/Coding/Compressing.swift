import CApusZlib
import NIOCore

/// The codings that servers use, produced by zlib.
enum CodedFormat: Int32, Sendable, CaseIterable {
  case gzip = 31
  case zlib = 15
  case raw = -15
}

/// Returns the coded bytes.
func compressed(_ bytes: [UInt8], _ format: CodedFormat) -> [UInt8] {
  var stream = z_stream()
  deflateInit2_(
    &stream, 9, Z_DEFLATED, format.rawValue, 8, Z_DEFAULT_STRATEGY, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
  defer { deflateEnd(&stream) }
  var bytes = bytes
  var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
  let count = bytes.withUnsafeMutableBufferPointer { source in
    output.withUnsafeMutableBufferPointer { target in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      _ = deflate(&stream, Z_FINISH)
      return target.count - Int(stream.avail_out)
    }
  }
  return Array(output.prefix(count))
}
