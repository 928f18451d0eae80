#if canImport(Security)
import Foundation
import Security

/// A generic password in the Keychain.
///
/// The generation of its content is an attribute as well, so that it can be replaced conditionally.
struct KeychainItem: Sendable {
  let service: String
  let account: String
  /// `nil`: the app's own group.
  let accessGroup: String?

  private var query: [String: Any] {
    var query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: service,
      kSecAttrAccount as String: account,
      // On macOS the data protection keychain, with access groups and without prompts, as on the other platforms.
      kSecUseDataProtectionKeychain as String: true,
    ]
    if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
    return query
  }

  /// The content of an item.
  struct Content {
    /// `nil`: no bytes.
    let bytes: Data?
    /// The generation attribute; `nil`: there is none, so another program wrote the item.
    let generation: Data?
  }

  /// Reads the item; `nil`: it does not exist.
  func read() throws(CredentialsStoreError) -> Content? {
    var query = query
    query[kSecReturnData as String] = true
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    var found: CFTypeRef?
    let status = SecItemCopyMatching(dictionary(query), &found)
    if status == errSecItemNotFound { return nil }
    guard status == errSecSuccess else { throw CredentialsStoreError(keychain: status) }
    guard let item = found as? NSDictionary else { throw CredentialsStoreError(keychain: errSecDecode) }
    return Content(
      bytes: item[kSecValueData as String] as? Data, generation: item[kSecAttrGeneric as String] as? Data)
  }

  /// Adds the item. Returns `false` if it exists.
  func add(_ content: Data, generation: UInt64) throws(CredentialsStoreError) -> Bool {
    var attributes = query
    attributes[kSecValueData as String] = content
    attributes[kSecAttrGeneric as String] = bytes(generation)
    attributes[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    let status = SecItemAdd(dictionary(attributes), nil)
    if status == errSecDuplicateItem { return false }
    guard status == errSecSuccess else { throw CredentialsStoreError(keychain: status) }
    return true
  }

  /// Replaces the content if it has a generation. Returns whether it was replaced.
  func replace(
    _ old: UInt64, by content: Data, generation: UInt64
  ) throws(CredentialsStoreError) -> Bool {
    var query = query
    query[kSecAttrGeneric as String] = bytes(old)
    let change: [String: Any] = [
      kSecValueData as String: content, kSecAttrGeneric as String: bytes(generation),
    ]
    let status = SecItemUpdate(dictionary(query), dictionary(change))
    if status == errSecItemNotFound { return false }
    guard status == errSecSuccess else { throw CredentialsStoreError(keychain: status) }
    return true
  }

  /// Removes the item if it still has the generation that was read, or was read without a generation.
  func remove(_ content: Content) throws(CredentialsStoreError) {
    var query = query
    if let generation = content.generation { query[kSecAttrGeneric as String] = generation }
    let status = SecItemDelete(dictionary(query))
    guard status == errSecSuccess || status == errSecItemNotFound else { throw CredentialsStoreError(keychain: status) }
  }

  private func bytes(_ generation: UInt64) -> Data {
    withUnsafeBytes(of: generation.bigEndian) { Data($0) }
  }

  private func dictionary(_ query: [String: Any]) -> CFDictionary {
    NSDictionary(dictionary: query) as CFDictionary
  }
}

extension CredentialsStoreError {
  /// An error of the Keychain.
  init(keychain status: OSStatus) {
    let message = (SecCopyErrorMessageString(status, nil) as String?) ?? "error \(status)"
    self.init(status == errSecDecode ? .unknownItemFormat : .keychain, "", step: message, errno: status)
  }
}
#endif
