#if Credentials
  #if canImport(Security)
    import Foundation
    import Security

    /// One generic password of the Keychain, and the four things that are done with it.
    ///
    /// The generation of what it holds stands in an attribute as well, by which it can be replaced on condition.
    struct KeychainItem: Sendable {
      let service: String
      let account: String
      /// `nil`: the app's own.
      let accessGroup: String?

      private var query: [String: Any] {
        var query: [String: Any] = [
          kSecClass as String: kSecClassGenericPassword,
          kSecAttrService as String: service,
          kSecAttrAccount as String: account,
          // On macOS the same Keychain as on the other systems, with access groups and no questions asked.
          kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
      }

      /// What an item held when it was read.
      struct Content {
        /// `nil`: something else than bytes, or nothing.
        let bytes: Data?
        /// The attribute that says its generation, as it is; `nil`: it has none, so it was not written here.
        let generation: Data?
      }

      /// What the item holds; `nil`: there is none.
      func read() throws(KeychainCredentialsError) -> Content? {
        var query = query
        query[kSecReturnData as String] = true
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(dictionary(query), &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainCredentialsError(status) }
        guard let item = found as? NSDictionary else { throw KeychainCredentialsError(errSecDecode) }
        return Content(
          bytes: item[kSecValueData as String] as? Data, generation: item[kSecAttrGeneric as String] as? Data)
      }

      /// Makes the item; whether there was none.
      func add(_ content: Data, generation: UInt64) throws(KeychainCredentialsError) -> Bool {
        var attributes = query
        attributes[kSecValueData as String] = content
        attributes[kSecAttrGeneric as String] = bytes(generation)
        attributes[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let status = SecItemAdd(dictionary(attributes), nil)
        if status == errSecDuplicateItem { return false }
        guard status == errSecSuccess else { throw KeychainCredentialsError(status) }
        return true
      }

      /// Replaces what the item holds if it is of a generation; whether it was.
      func replace(
        _ old: UInt64, by content: Data, generation: UInt64
      ) throws(KeychainCredentialsError) -> Bool {
        var query = query
        query[kSecAttrGeneric as String] = bytes(old)
        let change: [String: Any] = [
          kSecValueData as String: content, kSecAttrGeneric as String: bytes(generation),
        ]
        let status = SecItemUpdate(dictionary(query), dictionary(change))
        if status == errSecItemNotFound { return false }
        guard status == errSecSuccess else { throw KeychainCredentialsError(status) }
        return true
      }

      /// Removes the item if it is still of the generation that was read; what has none is removed as it is.
      func remove(_ content: Content) throws(KeychainCredentialsError) {
        var query = query
        if let generation = content.generation { query[kSecAttrGeneric as String] = generation }
        let status = SecItemDelete(dictionary(query))
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainCredentialsError(status) }
      }

      private func bytes(_ generation: UInt64) -> Data {
        withUnsafeBytes(of: generation.bigEndian) { Data($0) }
      }

      private func dictionary(_ query: [String: Any]) -> CFDictionary {
        NSDictionary(dictionary: query) as CFDictionary
      }
    }
  #endif
#endif
