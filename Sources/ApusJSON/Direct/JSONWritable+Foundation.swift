#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Foundation's types are written in the formats of the coding, as when they are encoded.
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
