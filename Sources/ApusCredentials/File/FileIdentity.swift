#if Credentials
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Tells a file from any other, and from itself once it was changed.
  ///
  /// It is kept as long as the file is held open, so that no other file can have its number meanwhile.
  struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64
    private let owner: UInt32
    private let mode: UInt32

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
      size = Int64(status.st_size)
      #if canImport(Darwin)
        let change = status.st_mtimespec
      #else
        let change = status.st_mtim
      #endif
      seconds = Int64(change.tv_sec)
      nanoseconds = Int64(change.tv_nsec)
      owner = UInt32(status.st_uid)
      mode = UInt32(status.st_mode)
    }
  }
#endif
