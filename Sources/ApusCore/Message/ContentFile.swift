#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file whose bytes are sent as content.
public struct ContentFile: Sendable, Hashable {
  /// Where the file is.
  public let path: String
  /// The file's size in bytes when it was looked at.
  public let length: Int64

  /// Looks at the file.
  ///
  /// - Parameter path: an absolute path, or one relative to the working directory.
  /// - Throws: ``ContentFileError`` when it is missing, not a regular file or not readable.
  public init(path: String) throws(ContentFileError) {
    let manager = FileManager.default
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    guard let attributes = try? manager.attributesOfItem(atPath: target) else {
      throw ContentFileError(path: path, reason: "there is no such file")
    }
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw ContentFileError(path: path, reason: "it is not a regular file")
    }
    guard manager.isReadableFile(atPath: path) else {
      throw ContentFileError(path: path, reason: "it is not readable")
    }
    self.path = path
    self.length = Self.length(attributes[.size])
  }

  /// The size attribute is an `NSNumber` on Apple platforms and a number of some type elsewhere.
  private static func length(_ size: Any?) -> Int64 {
    switch size {
    case let size as Int64: size
    case let size as any BinaryInteger: Int64(clamping: size)
    default: 0
    }
  }
}

/// A file that cannot be sent.
public struct ContentFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path as given.
  public let path: String
  /// Why, as half a sentence.
  public let reason: String
  /// The path and the reason.
  public var description: String { "cannot send the file \(path): \(reason)" }
}
