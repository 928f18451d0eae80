import Crypto

/// The path of a transfer's file, as its folder and its name, with the names of the files beside it.
struct FilePlace: Sendable, Hashable {
  let path: String
  let folder: String
  let name: String

  /// - Throws: ``TransferError`` with the reason `invalidPath` if the path is not that of a file.
  init(_ path: String) throws(TransferError) {
    self.path = path
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.startIndex ? "/" : String(path[..<slash])
      name = String(path[path.utf8.index(after: slash)...])
    } else {
      folder = "."
      name = path
    }
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= Self.longestName, !path.utf8.contains(0) else {
      throw TransferError(.invalidPath)
    }
  }

  /// The name of the incomplete file.
  var partialName: String { stem + ".apus-part" }
  /// The name of the file that describes the incomplete file.
  var recordName: String { partialName + ".json" }
  /// The name of an empty file that shows the permissions of new files.
  var probeName: String { partialName + ".mode" }
  /// The names of the files that exist for a moment only. A process that is killed in this moment leaves them.
  var momentaryNames: [String] { [Self.draft(of: recordName), probeName] }

  /// The name of a new version of a file before it replaces the file.
  static func draft(of name: String) -> String { name + ".new" }

  /// The name, shortened if the names beside it would be too long. Different names stay different.
  private var stem: String {
    let room = Self.longestName - ".apus-part.json.new".utf8.count
    guard name.utf8.count > room else { return name }
    let hash = Hexadecimal.text(SHA256.hash(data: Array(name.utf8)).prefix(8))
    var start = name
    while start.utf8.count > room - hash.utf8.count - 1 { start.removeLast() }
    return "\(start)-\(hash)"
  }

  /// The maximum number of bytes of a name on all usual file systems.
  private static let longestName = 255
}
