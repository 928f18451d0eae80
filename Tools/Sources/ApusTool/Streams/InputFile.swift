import Apus
import Foundation

/// Functions that read files.
enum InputFile {
  /// Checks that a file is readable. Returns whether it is a regular file, whose size is known, rather than a pipe or a
  /// device.
  ///
  /// - Throws: ``InputError``
  static func check(_ path: String) throws(InputError) -> Bool {
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw InputError(place: path, number: errno) }
    guard facts.st_mode & S_IFMT != S_IFDIR else { throw InputError(place: path, number: EISDIR) }
    guard access(path, R_OK) == 0 else { throw InputError(place: path, number: errno) }
    return facts.st_mode & S_IFMT == S_IFREG
  }

  /// The maximum length of a file that is read completely, such as a certificate or a token. It ends the reading of
  /// endless devices.
  private static let maximumBytes = 16 << 20

  /// Returns the contents of a small file, pipe or device.
  ///
  /// - Throws: ``InputError``, also above 16 MiB.
  static func contents(_ path: String) throws(InputError) -> Data {
    let descriptor = Descriptor.open(path, O_RDONLY)
    guard descriptor >= 0 else { throw InputError(place: path, number: errno) }
    defer { close(descriptor) }
    var all = Data()
    while let piece = try Descriptor.read(descriptor, place: path).get() {
      all += piece
      guard all.count <= maximumBytes else { throw InputError(place: path, number: EFBIG) }
    }
    return all
  }

  /// Returns the text of a small file without a final newline.
  ///
  /// - Throws: ``InputError``
  static func text(_ path: String) throws(InputError) -> String {
    let text = String(decoding: try contents(path), as: UTF8.self)
    return text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}

/// Content streamed from descriptors; not replayable.
enum InputPieces {
  static func standardInput() -> ContentStream {
    ContentStream(isReplayable: false) {
      let reader = DescriptorReader.standardInput()
      return { try await reader.next() }
    }
  }

  /// Streams a pipe or a device.
  static func stream(of path: String) -> ContentStream {
    ContentStream(isReplayable: false) {
      let reader = DescriptorReader(path: path)
      return { try await reader.next() }
    }
  }
}
