import ApusCore
public import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CookieJar {
  /// Creates a jar that keeps its cookies in an encrypted file, so that they survive restarts.
  ///
  /// ```swift
  /// let jar = try CookieJar(file: "/var/lib/app/cookies", key: .file("/etc/app/cookies.key"), account: "user-7")
  /// let api = Client(baseURL: "https://api.example.com/v1") { $0.cookies = jar }
  /// ```
  ///
  /// Cookies without an expiry are kept, too: the session of an app does not end with its process.
  /// `Client.signOut()` and `removeAll()` end it, and empty the file.
  ///
  /// The content is sealed with AES-256-GCM, and accessible to its owner only (mode 600). The file is replaced
  /// atomically: after any failure or crash it contains either the old or the new cookies. A call whose response changes
  /// cookies returns when they are on the disk, which takes milliseconds; concurrent calls share a write. If the file
  /// cannot be written, the cookies stay in memory, the call succeeds, and its trace and `Client.describe()` state the
  /// reason. The next change of a cookie writes the file again.
  ///
  /// Each process reads the file once, here. If several processes use a file at the same time, the last one that saves
  /// wins; nothing is damaged.
  ///
  /// This initializer reads the file, and creates it if it is missing or empty. It blocks the thread for milliseconds,
  /// with a passphrase for most of a second. Use one jar for each file.
  ///
  /// - Parameters:
  ///   - path: the path of the file. A missing folder is created with mode 700. While the file is written, the folder
  ///     also contains a file `.NAME.draft-RANDOM`.
  ///   - key: the key that seals the file.
  ///   - account: the name of the account to which the cookies belong, for example its id. The file contains a hash of
  ///     it. The cookies of another account are removed, and the jar is empty.
  ///   - isPublicSuffix: whether anyone can register names below a domain, such as `com` or `co.uk`, by a list of your
  ///     own; domains are in lower case and ASCII. With it the jar serves every host of a call or redirect, as in a
  ///     browser. Default: `nil`, the jar serves the hosts that a jar in memory serves.
  /// - Throws: ``CredentialsStoreError``. A file that cannot be read is never overwritten: remove it to start without
  ///   cookies, or use `CookieJar()`.
  public convenience init(
    file path: String, key: CredentialsFileKey, account: String,
    isPublicSuffix: (@Sendable (String) -> Bool)? = nil
  ) throws {
    let clocks = Clocks(clock: SystemClock(), date: { Date() })
    let dependencies = FileCredentialsStore.Dependencies(clocks: clocks)
    try self.init(CookieFile(at: path, key: key, account: account, dependencies), isPublicSuffix: isPublicSuffix)
  }

  convenience init(_ file: CookieFile, isPublicSuffix: (@Sendable (String) -> Bool)? = nil) throws {
    self.init(try file.load(), in: file, isPublicSuffix: isPublicSuffix, now: file.now)
  }
}
