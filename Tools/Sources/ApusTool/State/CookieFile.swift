import Apus
import ApusCredentials

/// The encrypted file of `--cookies`.
enum CookieFile {
  /// Returns the jar in a file, which is created if it is missing. The jar serves every host, as that of a browser, with
  /// the public suffixes of the system.
  ///
  /// The key is that of the profiles' credentials.
  ///
  /// - Throws: ``ProfileError/noFolder``; ``InputError`` if the file cannot be used.
  static func jar(at path: String, key folder: ProfileFolder) throws -> CookieJar {
    do {
      return try CookieJar(file: path, key: .file(folder.key), account: "apus") { PublicSuffixList.isPublicSuffix($0) }
    } catch let error as CredentialsStoreError {
      throw InputError(place: "the cookies in \(path)", reason: error.description)
    }
  }
}
