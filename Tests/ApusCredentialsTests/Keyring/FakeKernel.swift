#if os(Linux)
import ApusTesting
import Foundation
import Glibc
import Synchronization

@testable import ApusCredentials

/// A kernel with keys in memory, whose calls can be made to fail.
final class FakeKernel: KernelKeys {
  struct Key {
    let number: Int32
    var content: [UInt8]
    var permissions: UInt32?
    var timeout: UInt32?
  }

  struct State {
    /// The keys by keyring and description.
    var keys: [String: Key] = [:]
    var next: Int32 = 100
    /// The error number of each call, by its name. A call without an error number succeeds.
    var errors: [String: Int32] = [:]
    /// The number of upcoming calls that a signal interrupts.
    var interruptions = 0
    var calls: [String] = []
  }

  let state = Mutex(State())

  private func call(_ name: String, _ result: (inout State) -> Int) -> Int {
    state.withLock { state in
      state.calls.append(name)
      if state.interruptions > 0 {
        state.interruptions -= 1
        return -Int(EINTR)
      }
      return state.errors[name].map { -Int($0) } ?? result(&state)
    }
  }

  func search(_ keyring: Int32, _ description: String) -> Int {
    call("search") { $0.keys["\(keyring) \(description)"].map { Int($0.number) } ?? -Int(ENOKEY) }
  }

  func read(_ key: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    call("read") { state in
      guard let found = state.keys.values.first(where: { $0.number == key }) else { return -Int(ENOKEY) }
      buffer.copyBytes(from: found.content.prefix(buffer.count))
      return found.content.count
    }
  }

  func add(_ description: String, _ content: [UInt8], to keyring: Int32) -> Int {
    call("add") { state in
      state.next += 1
      let old = state.keys["\(keyring) \(description)"]
      let key = Key(number: old?.number ?? state.next, content: content, permissions: old?.permissions)
      state.keys["\(keyring) \(description)"] = key
      return Int(key.number)
    }
  }

  func setPermissions(of key: Int32, _ permissions: UInt32) -> Int {
    call("permissions") { Self.change(key, &$0) { $0.permissions = permissions } }
  }

  func setTimeout(of key: Int32, seconds: UInt32) -> Int {
    call("timeout") { Self.change(key, &$0) { $0.timeout = seconds } }
  }

  private static func change(_ key: Int32, _ state: inout State, _ change: (inout Key) -> Void) -> Int {
    for (name, var found) in state.keys where found.number == key {
      change(&found)
      state.keys[name] = found
      return 0
    }
    return -Int(ENOKEY)
  }
}

extension CredentialsFolder {
  /// Returns a store in a keyring, as another process would open it. Its lock files are in this folder.
  func keyring(
    _ kernel: any KernelKeys, _ name: String = "apus test", in keyring: KeyringCredentialsStore.Keyring = .session,
    timeout: Duration? = nil
  ) -> KeyringCredentialsStore {
    let clocks = Clocks(clock: clock, date: { [wall] in wall.date })
    return KeyringCredentialsStore(
      KeyringPlace(name: name, keyring: keyring, locks: folder, timeout: timeout),
      dependencies: KeyringCredentialsStore.Dependencies(clocks: clocks, kernel: kernel))
  }
}

extension SystemKeys {
  /// The reason why this machine's kernel refuses keyrings; `nil` if it permits them.
  static let refusal: String? = {
    let found = SystemKeys().search(-3, "apus-probe-\(UUID())")
    return found >= 0 || found == -Int(ENOKEY) ? nil : String(cString: strerror(Int32(-found)))
  }()
}
#endif
