/// The folder of profiles and its files:
///
///     key                      encrypts all credentials
///     lock                     locked during login and logout
///     profiles/NAME.json       the readable part of a profile
///     credentials/NAME.LOGIN/  the encrypted credentials of one login: the file `secret`, with OAuth the file `tokens`,
///                              and locks
struct ProfileFolder: Sendable, Hashable {
  let path: String

  init(path: String) {
    self.path = path
  }

  /// Selects `APUS_CONFIG_HOME`, or `apus` in `XDG_CONFIG_HOME`, or `apus` in `~/.config`. Empty variables are treated
  /// as unset, and so are relative paths in the last two.
  ///
  /// - Throws: ``ProfileError/noFolder``
  init(environment: [String: String]) throws(ProfileError) {
    guard let path = UserFolder.configuration.path(in: environment) else { throw ProfileError.noFolder }
    self.path = path
  }

  var key: String { "\(path)/key" }
  var lock: String { "\(path)/lock" }
  var profiles: String { "\(path)/profiles" }
  var credentials: String { "\(path)/credentials" }

  func profile(_ name: ProfileName) -> String { "\(profiles)/\(name).json" }

  func credentials(of name: ProfileName, login: String) -> String { "\(credentials)/\(name).\(login)" }

  func secret(of name: ProfileName, login: String) -> String { "\(credentials(of: name, login: login))/secret" }

  func tokens(of name: ProfileName, login: String) -> String { "\(credentials(of: name, login: login))/tokens" }

  /// Returns the profile of a file; `nil` for other files.
  static func name(ofProfile file: String) -> ProfileName? {
    guard file.hasSuffix(".json") else { return nil }
    return try? ProfileName(String(file.dropLast(5)))
  }

  /// Returns the profile and the login of a credentials folder; `nil` for other folders.
  static func owner(ofCredentials folder: String) -> (name: ProfileName, login: String)? {
    guard let mark = folder.lastIndex(of: ".") else { return nil }
    let login = folder[folder.index(after: mark)...]
    guard Profile.isLogin(login), let name = try? ProfileName(String(folder[..<mark])) else { return nil }
    return (name, String(login))
  }
}
