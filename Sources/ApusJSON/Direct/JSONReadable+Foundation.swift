#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Foundation's types are read in the formats of the coding, as when they are decoded.
extension Date: JSONReadable {
  /// Reads a date in the format of the coding.
  public init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
}

extension Data: JSONReadable {
  /// Reads bytes in the format of the coding.
  public init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
}

extension URL: JSONReadable {
  /// Reads a string.
  public init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
}

extension Decimal: JSONReadable {
  /// Reads a number.
  public init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
}
