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

  /// The most bytes of a file that is read as a whole: a certificate or a token, and no device without an end.
  private static let mostBytes = 16 << 20

  /// All of a small file, which may be a pipe or a device.
  ///
  /// - Throws: ``InputError``, also for more than 16 MiB.
  static func contents(_ path: String) throws(InputError) -> Data {
    let descriptor = Descriptor.open(path, O_RDONLY)
    guard descriptor >= 0 else { throw InputError(place: path, number: errno) }
    defer { close(descriptor) }
    var all = Data()
    while let piece = try Descriptor.read(descriptor, place: path).get() {
      all += piece
      guard all.count <= mostBytes else { throw InputError(place: path, number: EFBIG) }
    }
    return all
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
