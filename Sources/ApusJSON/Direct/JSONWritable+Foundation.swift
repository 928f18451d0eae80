#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// In the formats of the coding, as they are encoded.
extension Date: JSONWritable {
  /// Writes a date in the format of the coding.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

extension Data: JSONWritable {
  /// Writes bytes in the format of the coding.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

extension URL: JSONWritable {
  /// Writes a string.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

extension Decimal: JSONWritable {
  /// Writes a number.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}
