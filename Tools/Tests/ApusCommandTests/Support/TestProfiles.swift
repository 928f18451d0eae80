import Foundation

/// A folder for the profiles of one test, which the program makes; it finds no others.
final class KeptProfiles: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "profiles-\(UUID())").path

  var environment: [String: String] { ["APUS_CONFIG_HOME": path] }

  /// Runs the program with these profiles.
  func run(_ arguments: String..., input: String = "") async throws -> ToolRun {
    try await ToolRun.of(arguments, .init(input: Data(input.utf8), environment: environment))
  }

  /// Signs in with a token.
  func logIn(_ name: String, _ url: String, token: String) async throws -> ToolRun {
    try await run("login", name, url, "--bearer", input: "\(token)\n")
  }

  /// Everything in the folder, folders too, by paths within it.
  var contents: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: path).sorted()) ?? [] }

  /// The folders with credentials.
  var credentials: [String] {
    let folder = "\(path)/credentials"
    return (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }) ?? []
  }

  /// Who may do what with something in the folder, and whether that is a folder.
  func mode(of entry: String) -> (mode: mode_t, isFolder: Bool) {
    var facts = stat()
    guard stat("\(path)/\(entry)", &facts) == 0 else { return (0, false) }
    return (facts.st_mode & 0o7777, facts.st_mode & S_IFMT == S_IFDIR)
  }

  /// The names of files that hold a text.
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
