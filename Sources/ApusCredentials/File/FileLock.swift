#if Credentials
  import ApusCore

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A lock that one holder at a time has, of all processes. The system takes it from a process that dies.
  ///
  /// The file that stands for it is never removed here. Where somebody else removes it, who waited for it finds that out
  /// when they get it, and waits for the file that has its name by then; who has the lock at that moment does not know.
  struct FileLock: Sendable {
    private let descriptor: Descriptor

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - name: the file that stands for it.
    ///   - clock: what the pauses between two tries are slept by: 5 ms, then twice as long each, up to 100 ms.
    /// - Throws: `CancellationError` when the task is cancelled while it waits.
    static func take(_ name: String, in folder: Folder, _ clock: any MonotonicClock) async throws -> FileLock {
      var descriptor = try folder.lockable(name)
      var pause = Duration.milliseconds(5)
      while true {
        if try isTaken(descriptor, name) {
          if try folder.has(descriptor, as: name) { return FileLock(descriptor: descriptor) }
          descriptor = try folder.lockable(name)
          continue
        }
        try await clock.sleep(until: clock.now.advanced(by: pause))
        pause = min(pause * 2, .milliseconds(100))
      }
    }

    /// Tries once; whether it was free.
    private static func isTaken(_ descriptor: Descriptor, _ name: String) throws(FileCredentialsError) -> Bool {
      do throws(FileCredentialsError) {
        try Descriptor.call("locked", name) { flock(descriptor.number, LOCK_EX | LOCK_NB) }
        return true
      } catch {
        guard error.number == EWOULDBLOCK else { throw error }
        return false
      }
    }

    /// Gives it back. Closing the file would not do, while a process that is about to start still has it open as well.
    func release() {
      flock(descriptor.number, LOCK_UN)
    }
  }
#endif
