#if os(Linux)
import CApusKeyring

/// The key management calls of the kernel. Each returns a non-negative result, or a negative error number.
protocol KernelKeys: Sendable {
  /// Searches a keyring for a key with a description. Returns the key's number.
  func search(_ keyring: Int32, _ description: String) -> Int
  /// Reads a key's content. Returns the length of the content, which may exceed the length of the buffer.
  func read(_ key: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int
  /// Adds a key, or replaces the content of the key with that description. Returns the key's number.
  func add(_ description: String, _ content: [UInt8], to keyring: Int32) -> Int
  /// Sets the permissions of a key, as in `keyctl_setperm(3)`.
  func setPermissions(of key: Int32, _ permissions: UInt32) -> Int
  /// Sets the time after which a key expires.
  func setTimeout(of key: Int32, seconds: UInt32) -> Int
}

/// The kernel of this machine.
struct SystemKeys: KernelKeys {
  func search(_ keyring: Int32, _ description: String) -> Int { apus_keyring_search(keyring, description) }

  func read(_ key: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    apus_keyring_read(key, buffer.baseAddress, buffer.count)
  }

  func add(_ description: String, _ content: [UInt8], to keyring: Int32) -> Int {
    // Only a process that possesses a new key may protect it. Sessions that a service manager or `keyctl session` has
    // started are not linked to the keys of the user.
    _ = apus_keyring_possess(keyring)
    return apus_keyring_add(description, content, content.count, keyring)
  }

  func setPermissions(of key: Int32, _ permissions: UInt32) -> Int { apus_keyring_set_permissions(key, permissions) }

  func setTimeout(of key: Int32, seconds: UInt32) -> Int { apus_keyring_set_timeout(key, seconds) }
}
#endif
