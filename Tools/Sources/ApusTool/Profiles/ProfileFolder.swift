/// Where profiles are kept, and what is called how there:
///
///     key                      encrypts all credentials
///     lock                     held by whoever signs in or out
///     profiles/NAME.json       what may be read of a profile
///     credentials/NAME.LOGIN/  the encrypted credentials of one sign-in: the file `secret`, and locks
struct ProfileFolder: Sendable, Hashable {
  let path: String

  init(path: String) {
    self.path = path
  }

  /// `APUS_CONFIG_HOME` itself, or `apus` in `XDG_CONFIG_HOME` or else in `~/.config`; empty variables count as unset,
  /// and so do relative paths in the last two.
  ///
  /// - Throws: ``ProfileError/noFolder``
  init(environment: [String: String]) throws(ProfileError) {
    if let own = environment["APUS_CONFIG_HOME"], !own.isEmpty {
      path = Self.withoutSlash(own)
    } else if let shared = environment["XDG_CONFIG_HOME"], shared.utf8.first == UInt8(ascii: "/") {
      path = Self.withoutSlash(shared) + "/apus"
    } else if let home = environment["HOME"], home.utf8.first == UInt8(ascii: "/") {
      path = Self.withoutSlash(home) + "/.config/apus"
    } else {
      throw ProfileError.noFolder
    }
  }

  var key: String { "\(path)/key" }
  var lock: String { "\(path)/lock" }
  var profiles: String { "\(path)/profiles" }
  var credentials: String { "\(path)/credentials" }

  func profile(_ name: ProfileName) -> String { "\(profiles)/\(name).json" }

  func credentials(of name: ProfileName, login: String) -> String { "\(credentials)/\(name).\(login)" }

  func secret(of name: ProfileName, login: String) -> String { "\(credentials(of: name, login: login))/secret" }

  /// The profile of a file's name; `nil` for any other file.
  static func name(ofProfile file: String) -> ProfileName? {
    guard file.hasSuffix(".json") else { return nil }
    return try? ProfileName(String(file.dropLast(5)))
  }

  /// The profile and the sign-in of a folder's name; `nil` for any other folder.
  static func owner(ofCredentials folder: String) -> (name: ProfileName, login: String)? {
    guard let mark = folder.lastIndex(of: ".") else { return nil }
    let login = folder[folder.index(after: mark)...]
    guard Profile.isLogin(login), let name = try? ProfileName(String(folder[..<mark])) else { return nil }
    return (name, String(login))
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path[...]
    while path.utf8.last == UInt8(ascii: "/") { path = Substring(path.utf8.dropLast()) }
    return String(path)
  }
}
