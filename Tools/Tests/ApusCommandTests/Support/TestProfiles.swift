import Foundation

/// The profiles of one test, in a separate folder.
final class TestProfiles: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "profiles-\(UUID())").path

  var environment: [String: String] { ["APUS_CONFIG_HOME": path] }

  /// Runs the program with these profiles.
  func run(_ arguments: String..., input: String = "") async throws -> ToolRun {
    try await ToolRun.of(arguments, .init(input: Data(input.utf8), environment: environment))
  }

  /// Logs in with a token.
  func logIn(_ name: String, _ url: String, token: String) async throws -> ToolRun {
    try await run("login", name, url, "--bearer", input: "\(token)\n")
  }

  /// The relative paths of all files and folders.
  var contents: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: path).sorted()) ?? [] }

  /// The folders with credentials.
  var credentials: [String] {
    let folder = "\(path)/credentials"
    return (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }) ?? []
  }

  /// Returns the mode of a file, and whether it is a folder.
  func mode(of entry: String) -> (mode: mode_t, isFolder: Bool) {
    var facts = stat()
    guard stat("\(path)/\(entry)", &facts) == 0 else { return (0, false) }
    return (facts.st_mode & 0o7777, facts.st_mode & S_IFMT == S_IFDIR)
  }

  /// Returns the names of files that contain a text.
  func files(with text: String) -> [String] {
    contents.filter { entry in
      let bytes = try? Data(contentsOf: URL(filePath: "\(path)/\(entry)"))
      return bytes?.range(of: Data(text.utf8)) != nil
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
