import ApusFiles
import Crypto

/// The names of the files that exist beside a transfer's file.
extension FilePath {
  /// - Throws: ``TransferError`` with the reason `invalidPath` if the path is not that of a file.
  static func checked(_ path: String) throws(TransferError) -> FilePath {
    let place = FilePath(path)
    guard place.isValid, place.name.utf8.count <= maximumNameLength else { throw TransferError(.invalidPath) }
    return place
  }

  /// The name of the incomplete file.
  var partialName: String { stem + ".apus-part" }
  /// The name of the file that describes the incomplete file.
  var recordName: String { partialName + ".json" }
  /// The name of an empty file that is created to determine the permissions of new files.
  var probeName: String { partialName + ".mode" }
  /// The names of short-lived files, which a killed process may leave behind.
  var momentaryNames: [String] { [Folder.draft(of: recordName), probeName] }

  /// The name, shortened if the names beside it would be too long. Different names have different stems.
  private var stem: String {
    let room = Self.maximumNameLength - ".apus-part.json.new".utf8.count
    guard name.utf8.count > room else { return name }
    let hash = Hexadecimal.text(SHA256.hash(data: Array(name.utf8)).prefix(8))
    var start = name
    while start.utf8.count > room - hash.utf8.count - 1 { start.removeLast() }
    return "\(start)-\(hash)"
  }

  /// The maximum number of bytes of a name on all usual file systems.
  private static let maximumNameLength = 255
}
