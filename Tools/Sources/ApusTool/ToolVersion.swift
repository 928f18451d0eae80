/// The version of the tool.
enum ToolVersion {
  /// The semantic version, printed by `apus --version` and sent in `User-Agent`.
  static let current = "0.1.0"
}
