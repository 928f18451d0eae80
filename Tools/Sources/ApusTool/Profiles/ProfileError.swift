import Apus

/// An error with stored credentials.
enum ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The environment does not determine the folder of profiles.
  case noFolder
  case unknown(ProfileName, folder: String)
  /// The readable part is invalid.
  case damaged(ProfileName, path: String, reason: String)
  /// The profile has no credentials.
  case signedOut(ProfileName, Origin)
  case otherOrigin(ProfileName, own: Origin, requested: Origin)
  /// The credentials cannot be read, for example because the key is wrong.
  case unreadable(ProfileName, folder: String, reason: String)
  case notKept(ProfileName, folder: String, reason: String)
  /// Other users can access a folder for secrets.
  case openFolder(String)
  /// A folder for secrets belongs to another user.
  case foreignFolder(String)

  var description: String {
    switch self {
    case .noFolder: "Profiles have no folder: HOME is not set."
    case .unknown(let name, let folder): "There is no profile “\(name)” in \(folder). Create one with `apus login`."
    case .damaged(let name, let path, let reason):
      "The profile “\(name)” is damaged: in \(path), \(reason). Sign in again."
    case .signedOut(let name, let origin):
      "The profile “\(name)” is signed out. Sign in with `apus login \(name) \(origin)`."
    case .otherOrigin(let name, let own, let requested):
      "The profile “\(name)” is for \(own), not for \(requested). Nothing was sent."
    case .unreadable(let name, let folder, let reason):
      "The credentials of the profile “\(name)” cannot be read: in \(folder), \(reason)."
    case .notKept(let name, let folder, let reason):
      "The credentials of the profile “\(name)” cannot be stored: in \(folder), \(reason)."
    case .openFolder(let path):
      "Other users can access \(path), which is for secrets. Restrict it with `chmod 700 \(path)`."
    case .foreignFolder(let path):
      "The folder \(path) belongs to another user. Secrets need a folder of your own with mode 700."
    }
  }

  /// The exit status.
  var status: ExitStatus {
    switch self {
    case .noFolder, .unknown, .damaged, .unreadable: .input
    case .signedOut, .otherOrigin: .invalidRequest
    case .notKept, .openFolder, .foreignFolder: .output
    }
  }
}
