import Apus
import Foundation

/// Files that are read.
enum InputFile {
  /// Whether a file that can be read has its size known beforehand: a regular file, not a pipe or a device.
  ///
  /// - Throws: ``InputError``
  static func check(_ path: String) throws(InputError) -> Bool {
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw InputError(place: path, number: errno) }
    guard facts.st_mode & S_IFMT != S_IFDIR else { throw InputError(place: path, number: EISDIR) }
    guard access(path, R_OK) == 0 else { throw InputError(place: path, number: errno) }
    return facts.st_mode & S_IFMT == S_IFREG
  }

  /// All of a small file.
  ///
  /// - Throws: ``InputError``
  static func contents(_ path: String) throws(InputError) -> Data {
    _ = try check(path)
    do {
      return try Data(contentsOf: URL(filePath: path))
    } catch {
      throw InputError(place: path, reason: "reading it failed")
    }
  }

  /// The text of a small file, without the end of its last line.
  ///
  /// - Throws: ``InputError``
  static func text(_ path: String) throws(InputError) -> String {
    let text = String(decoding: try contents(path), as: UTF8.self)
    return text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}

/// Content that is read from descriptors while it is sent, once.
enum InputPieces {
  static func standardInput() -> ContentStream {
    ContentStream(isReplayable: false) {
      let reader = DescriptorReader.standardInput()
      return { try await reader.next() }
    }
  }

  /// A pipe or a device.
  static func stream(of path: String) -> ContentStream {
    ContentStream(isReplayable: false) {
      let reader = DescriptorReader(path: path)
      return { try await reader.next() }
    }
  }
}
