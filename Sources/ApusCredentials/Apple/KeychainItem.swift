#if canImport(Security)
import Foundation
import Security

/// A generic password in the Keychain.
///
/// The generation of its content is also an attribute, so that the item can be replaced conditionally.
struct KeychainItem: Sendable {
  let service: String
  let account: String
  /// The access group; `nil`: the app's own group.
  let accessGroup: String?

  private var query: [String: Any] {
    var query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: service,
      kSecAttrAccount as String: account,
      // Selects the data protection keychain on macOS: it has access groups and no prompts, as on the other platforms.
      kSecUseDataProtectionKeychain as String: true,
    ]
    if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
    return query
  }

  /// The content of an item.
  struct Content {
    /// The stored bytes; `nil`: the item has no bytes.
    let bytes: Data?
    /// The generation attribute; `nil` if the item has no such attribute, because another program wrote it.
    let generation: Data?
  }

  /// Reads the item. Returns `nil` if the item does not exist.
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

  /// Adds the item. Returns `false` if the item already exists.
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

  /// Replaces the content if the item still has a given generation. Returns whether the content was replaced.
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

  /// Removes the item if its generation has not changed since it was read, or if it had no generation.
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
  /// Creates the error for a status of the Keychain.
  init(keychain status: OSStatus) {
    let message = (SecCopyErrorMessageString(status, nil) as String?) ?? "error \(status)"
    self.init(status == errSecDecode ? .unknownItemFormat : .keychain, "", step: message, errno: status)
  }
}
#endif
