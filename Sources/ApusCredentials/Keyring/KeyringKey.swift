#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A key of the kernel, by its keyring and its description.
struct KeyringKey: Sendable {
  /// The maximum length of a key's content (`keyrings(7)`).
  static let limit = 32_767

  let description: String
  let keyring: KeyringCredentialsStore.Keyring
  let kernel: any KernelKeys
  /// The number of seconds after which content expires; `nil` if it never expires.
  let timeout: UInt32?

  /// Reads the content. Returns `nil` if the key does not exist or has expired.
  func content() throws(CredentialsStoreError) -> [UInt8]? {
    guard !description.utf8.contains(0), !description.isEmpty else { throw error(.invalidName, nil) }
    let found = repeated { kernel.search(keyring.number, description) }
    if found < 0 { return try missing(found, "found") }
    // If the content is longer, it is read again: another process may have replaced it.
    var length = 4096
    while length <= Self.limit + 1 {
      var buffer = [UInt8](repeating: 0, count: length)
      let count = buffer.withUnsafeMutableBytes { buffer in
        repeated { kernel.read(Int32(truncatingIfNeeded: found), into: buffer) }
      }
      if count < 0 { return try missing(count, "read") }
      if count <= length { return Array(buffer.prefix(count)) }
      length = count
    }
    throw error(.unknownKeyFormat, nil)
  }

  /// Replaces the content, or adds the key.
  func write(_ content: [UInt8]) throws(CredentialsStoreError) {
    guard content.count <= Self.limit else { throw error(.tooLarge, nil) }
    let key = repeated { kernel.add(description, content, to: keyring.number) }
    guard key >= 0 else { throw error(Self.problem(key), key, "stored") }
    let number = Int32(truncatingIfNeeded: key)
    // Replacing the content has removed its expiration time.
    if let timeout { try check(kernel.setTimeout(of: number, seconds: timeout)) }
    if let permissions = keyring.permissions { try check(kernel.setPermissions(of: number, permissions)) }
  }

  private func check(_ result: Int) throws(CredentialsStoreError) {
    guard result >= 0 else { throw error(Self.problem(result), result, "protected") }
  }

  private func repeated(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result != -Int(EINTR) { return result }
    }
  }

  private func missing(_ result: Int, _ step: String) throws(CredentialsStoreError) -> [UInt8]? {
    switch Int32(-result) {
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED: return nil
    default: throw error(Self.problem(result), result, step)
    }
  }

  private static func problem(_ result: Int) -> CredentialsStoreError.Problem {
    switch Int32(-result) {
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED: .noKeyring
    case EACCES: .notPermitted
    case EDQUOT: .quotaExceeded
    // Containers often filter these calls.
    case ENOSYS, EPERM: .noKeyrings
    default: .system
    }
  }

  func error(
    _ problem: CredentialsStoreError.Problem, _ result: Int?, _ step: String = ""
  ) -> CredentialsStoreError {
    CredentialsStoreError(problem, "the key \(description)", step: step, errno: result.map { Int32(-$0) })
  }
}

extension KeyringCredentialsStore.Keyring {
  /// The special number of the keyring.
  fileprivate var number: Int32 {
    switch self {
    case .session: -3
    case .user: -4
    case .userSession: -5
    }
  }

  /// The permissions of a key; `nil` for the kernel's default, which permits only processes that possess the key to
  /// read it. A process need not possess the keyrings of its user.
  fileprivate var permissions: UInt32? { self == .session ? nil : 0x3F3F_0000 }

  /// The prefix of the names of folders with lock files.
  var prefix: String {
    switch self {
    case .session: "session"
    case .user: "user"
    case .userSession: "user-session"
    }
  }
}
#endif
