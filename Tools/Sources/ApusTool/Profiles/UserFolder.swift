/// A folder of the tool in the user's home, determined by the environment.
struct UserFolder: Sendable, Hashable {
  /// The variable with the path of the folder itself.
  let own: String
  /// The variable with the path of the folder that contains `apus`.
  let shared: String
  /// The path, relative to the home folder, of the folder that contains `apus`.
  let fallback: String

  /// The folder of the configuration, which contains the profiles.
  static let configuration = UserFolder(own: "APUS_CONFIG_HOME", shared: "XDG_CONFIG_HOME", fallback: ".config")
  /// The folder of the state, which contains the records of interrupted uploads.
  static let state = UserFolder(own: "APUS_STATE_HOME", shared: "XDG_STATE_HOME", fallback: ".local/state")

  /// Returns the path; `nil` if the environment does not determine it. Empty variables are treated as unset, and so are
  /// relative paths in all variables but the folder's own.
  func path(in environment: [String: String]) -> String? {
    if let own = environment[own], !own.isEmpty { return Self.withoutSlash(own) }
    if let shared = environment[shared], shared.utf8.first == UInt8(ascii: "/") {
      return Self.withoutSlash(shared) + "/apus"
    }
    if let home = environment["HOME"], home.utf8.first == UInt8(ascii: "/") {
      return Self.withoutSlash(home) + "/\(fallback)/apus"
    }
    return nil
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path[...]
    while path.utf8.last == UInt8(ascii: "/") { path = Substring(path.utf8.dropLast()) }
    return String(path)
  }
}
