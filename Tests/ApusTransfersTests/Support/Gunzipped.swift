import CApusZlib
import Foundation
import Testing

/// Decodes gzip content with a single member.
func gunzipped(_ data: Data) throws -> Data {
  var stream = z_stream()
  try #require(inflateInit2_(&stream, 15 + 16, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK)
  defer { inflateEnd(&stream) }
  var input = [UInt8](data)
  var (output, status) = (Data(), Z_OK)
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  input.withUnsafeMutableBufferPointer { source in
    stream.next_in = source.baseAddress
    stream.avail_in = UInt32(source.count)
    while status == Z_OK {
      buffer.withUnsafeMutableBufferPointer { target in
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        status = inflate(&stream, Z_NO_FLUSH)
        output.append(contentsOf: target.prefix(target.count - Int(stream.avail_out)))
      }
    }
  }
  #expect(status == Z_STREAM_END && stream.avail_in == 0)
  return output
}
