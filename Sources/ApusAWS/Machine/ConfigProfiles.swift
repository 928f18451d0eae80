import ApusCore

/// The profiles of the user's files `credentials` and `config`. Properties in `credentials` take precedence.
struct ConfigProfiles: Sendable {
  /// The error of a file that could not be used.
  struct Failure: LoggableError, Hashable {
    let path: String
    let reason: String

    var description: String { "\(path): \(reason)" }
  }

  private let config: ConfigFile
  private let credentials: ConfigFile

  init(config: ConfigFile, credentials: ConfigFile) {
    (self.config, self.credentials) = (config, credentials)
  }

  /// Reads the files at the paths in `AWS_CONFIG_FILE` and `AWS_SHARED_CREDENTIALS_FILE`, by default the files in the
  /// user's home. A missing file has no profiles.
  init(of environment: AWSEnvironment) throws(Failure) {
    config = try Self.read("AWS_CONFIG_FILE", "config", environment)
    credentials = try Self.read("AWS_SHARED_CREDENTIALS_FILE", "credentials", environment)
  }

  private static func read(
    _ variable: String, _ name: String, _ environment: AWSEnvironment
  ) throws(Failure) -> ConfigFile {
    guard let path = environment[variable] ?? environment.home.map({ "\($0)/.aws/\(name)" }) else {
      return ConfigFile()
    }
    guard let path = environment.absolute(path) else {
      throw Failure(path: path, reason: "\(variable) is not an absolute path")
    }
    do {
      guard let data = try environment.readFile(path, ConfigFile.maximumLength) else { return ConfigFile() }
      return try ConfigFile(data)
    } catch {
      throw Failure(path: path, reason: (error as? any LoggableError)?.description ?? "it cannot be read")
    }
  }

  /// Returns the properties of a profile, or `nil` if no profile has the name.
  func profile(_ name: String) -> [String: String]? {
    let sections = [
      name == "default" ? config.sections["default"] : nil, config.sections["profile \(name)"],
      credentials.sections[name],
    ].compactMap { $0 }
    guard !sections.isEmpty else { return nil }
    return sections.reduce(into: [:]) { $0.merge($1) { _, later in later } }
  }

  /// Returns the properties of a single sign-on session.
  func session(_ name: String) -> [String: String]? { config.sections["sso-session \(name)"] }
}

extension AWSEnvironment {
  /// Returns an absolute path, with `~` as the user's home. Returns `nil` for a path relative to the working directory,
  /// because the directory may be a project with untrusted files.
  func absolute(_ path: String) -> String? {
    if path.hasPrefix("/") { return path }
    guard path.hasPrefix("~/"), let home, home.hasPrefix("/") else { return nil }
    return home + path.dropFirst()
  }
}
