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
    // A number of one type or another, by platform and by what else is linked; its digits are always the same.
    guard let length = attributes[.size].flatMap({ Int64("\($0)") }) else {
      throw ContentFileError(path: path, reason: "its size is unknown")
    }
    self.path = path
    self.length = length
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
