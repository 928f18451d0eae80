/// Which version of the tool this is.
enum ToolVersion {
  /// Three numbers (semver.org), as `apus --version` prints them and as servers are told.
  static let current = "0.1.0"
}
