import Foundation

/// A folder for the files of one test, removed at its end.
final class TestFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "apus-files-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The names of all files, sorted.
  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: url.appending(path: name)) }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: url.appending(path: name))
  }

  /// The size of a file; 0 if it does not exist.
  func size(_ name: String) -> Int {
    var facts = stat()
    return stat(path(name), &facts) == 0 ? Int(facts.st_size) : 0
  }

  /// Returns the setting of a run in this folder.
  func setting(_ change: (inout ToolRun.Setting) -> Void = { _ in }) -> ToolRun.Setting {
    var setting = ToolRun.Setting(preparation: "cd '\(url.path)'")
    change(&setting)
    return setting
  }
}
