import Apus

/// Why kept credentials cannot be used.
enum ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The environment does not say where profiles are.
  case noFolder
  case unknown(ProfileName, folder: String)
  /// The readable part makes no sense.
  case damaged(ProfileName, path: String, reason: String)
  /// There is a profile, and there are no credentials.
  case signedOut(ProfileName, Origin)
  case otherOrigin(ProfileName, own: Origin, asked: Origin)
  /// The credentials cannot be read, for example since their key is another.
  case unreadable(ProfileName, folder: String, reason: String)
  case notKept(ProfileName, folder: String, reason: String)
  /// Others than its owner may do something with a folder for secrets.
  case openFolder(String)
  /// A folder for secrets is another user's.
  case foreignFolder(String)

  var description: String {
    switch self {
    case .noFolder: "There is no place for profiles: HOME is not set."
    case .unknown(let name, let folder): "There is no profile “\(name)” in \(folder): `apus login` makes one."
    case .damaged(let name, let path, let reason):
      "The profile “\(name)” is damaged, sign in again: \(path) cannot be used, \(reason)."
    case .signedOut(let name, let origin):
      "Nobody is signed in to the profile “\(name)”: `apus login \(name) \(origin)` does that."
    case .otherOrigin(let name, let own, let asked):
      "The profile “\(name)” is for \(own) and not for \(asked): nothing was sent."
    case .unreadable(let name, let folder, let reason):
      "The credentials of the profile “\(name)” cannot be read, since in \(folder) \(reason)."
    case .notKept(let name, let folder, let reason):
      "The credentials of the profile “\(name)” cannot be kept, since in \(folder) \(reason)."
    case .openFolder(let path):
      "Others may look into \(path), where secrets would be: `chmod 700 \(path)` closes it."
    case .foreignFolder(let path):
      "The folder \(path), where secrets would be, is another user's: secrets need your own, closed by `chmod 700`."
    }
  }

  /// How the tool ends.
  var status: ExitStatus {
    switch self {
    case .noFolder, .unknown, .damaged, .unreadable: .input
    case .signedOut, .otherOrigin: .invalidRequest
    case .notKept, .openFolder, .foreignFolder: .output
    }
  }
}
