import ApusFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of a record of a ``FileTransferStore``, as JSON with the version of its format.
protocol StoredRecord: Codable {
  /// The version that this process writes. Records of other versions are ignored.
  static var currentVersion: Int { get }
  var version: Int { get }
}

extension StoredRecord {
  /// Reads a record. Returns `nil` for damaged records and other versions.
  init?(_ content: Data) {
    guard let record = try? JSONDecoder().decode(Self.self, from: content), record.version == Self.currentVersion else {
      return nil
    }
    self = record
  }

  /// Returns the record as bytes, or `nil` if it is too large for a store.
  func encoded() -> Data? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).flatMap { $0.count <= Folder.recordLimit ? $0 : nil }
  }
}
