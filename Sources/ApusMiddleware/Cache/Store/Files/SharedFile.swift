import ApusFiles

/// The file `state` of a folder: the key of the folder, what its processes share, and the last invalidations.
///
/// The file has its full size from the beginning and is changed in place, so that invalidations need no space on the
/// disk. Its lock belongs to the process that changes the folder. All functions block.
struct SharedFile: Sendable {
  static let name = "state"
  /// The first bytes of the file. The last byte is the version of the format.
  private static let magic: [UInt8] = Array("ApusSta".utf8) + [2]
  private static let stateOffset: Int64 = 64
  private static let recordsOffset: Int64 = 256
  private static let size = recordsOffset + Int64(SharedRecord.capacity) * Int64(SharedRecord.size)

  private let descriptor: Descriptor
  /// The key of the folder.
  let key: DigestKey
  private let checkKey: DigestKey
  /// Whether the file system allows changes.
  let isWritable: Bool

  private init(_ descriptor: Descriptor, _ key: DigestKey, isWritable: Bool) {
    (self.descriptor, self.key, self.isWritable) = (descriptor, key, isWritable)
    checkKey = key.derived(4)
  }

  // MARK: Opening

  /// Opens the file, or creates it. A damaged file is replaced, and with its key all entries become unreadable.
  static func open(in folder: Folder) throws(FileError) -> SharedFile {
    // Another round is needed only if another process has just created or removed the file, so a few rounds suffice.
    for _ in 0..<16 {
      if let (descriptor, isWritable) = try existing(in: folder) {
        if let key = try key(of: descriptor) { return SharedFile(descriptor, key, isWritable: isWritable) }
        try remove(descriptor, in: folder)
      }
      try create(in: folder)
    }
    throw FileError.unstable(name)
  }

  private static func existing(in folder: Folder) throws(FileError) -> (Descriptor, isWritable: Bool)? {
    do throws(FileError) {
      return try folder.existing(name, for: .writing, isPrivate: true).map { ($0, true) }
    } catch {
      guard error.isReadOnly else { throw error }
      return try folder.existing(name, for: .reading, isPrivate: true).map { ($0, false) }
    }
  }

  /// Returns the key in a file. `nil`: the file is damaged or has another version.
  private static func key(of descriptor: Descriptor) throws(FileError) -> DigestKey? {
    guard try descriptor.size == size else { return nil }
    let bytes = try descriptor.read(magic.count + 32, at: 0)
    let key = bytes.withUnsafeBytes { bytes -> DigestKey? in
      var reader = ByteReader(bytes)
      guard (try? reader.take(magic.count))?.elementsEqual(magic) ?? false, let stored = try? reader.digest(),
        let check = try? reader.digest()
      else { return nil }
      let key = DigestKey(first: stored.first, second: stored.second)
      return check == self.check(key) ? key : nil
    }
    guard let key else { return nil }
    let state = SharedState(try descriptor.read(SharedState.size, at: stateOffset), key.derived(4))
    return state == nil ? nil : key
  }

  private static func check(_ key: DigestKey) -> KeyedDigest {
    magic.withUnsafeBytes { KeyedHasher.digest($0, key) }
  }

  /// Removes a damaged file, unless another process has just replaced it.
  private static func remove(_ descriptor: Descriptor, in folder: Folder) throws(FileError) {
    guard try descriptor.lock(within: 100) else { return }
    defer { descriptor.unlock() }
    if try folder.has(descriptor, as: name) { folder.remove(name) }
  }

  private static func create(in folder: Folder) throws(FileError) {
    let draft = Draft.name()
    guard let made = try folder.make(draft) else { return }
    defer { folder.remove(draft) }
    _ = try made.lock()
    // The process's umask may have removed permissions.
    try made.setMode(0o600)
    let key = DigestKey.random()
    var writer = ByteWriter(capacity: Int(size))
    writer.append(magic)
    writer.write(KeyedDigest(first: key.first, second: key.second))
    writer.write(check(key))
    writer.append(repeatElement(0, count: Int(stateOffset) - writer.bytes.count))
    writer.append(SharedState().encoded(key.derived(4)))
    writer.append(repeatElement(0, count: Int(size) - writer.bytes.count))
    try made.writeAll(writer.bytes, at: 0)
    try folder.publish(draft, as: name)
  }

  // MARK: Lock

  /// Whether the file still belongs to the folder. `false`: another program has removed it, perhaps with the folder.
  var isLinked: Bool { ((try? descriptor.linkCount) ?? 0) > 0 }

  /// Acquires the lock. Only one thread of the process may have it.
  ///
  /// - Returns: `false`: another process keeps it, for example because it is suspended.
  func lock() throws(FileError) -> Bool {
    guard isWritable else { return false }
    return try descriptor.lock(within: 200)
  }

  func unlock() {
    descriptor.unlock()
  }

  // MARK: Content

  /// Reads the state. `nil`: the file is damaged, or cannot be read.
  func read() -> SharedState? {
    // Another process may be writing at this moment.
    for _ in 0..<16 {
      guard let bytes = try? descriptor.read(SharedState.size, at: Self.stateOffset) else { return nil }
      if let state = SharedState(bytes, checkKey) { return state }
    }
    return nil
  }

  /// Writes the state. The caller has the lock.
  func write(_ state: SharedState) throws(FileError) {
    try descriptor.writeAll(state.encoded(checkKey), at: Self.stateOffset)
  }

  /// Reads a record. `nil`: it is damaged, or was overwritten.
  func record(_ number: UInt64) -> SharedRecord? {
    guard let bytes = try? descriptor.read(SharedRecord.size, at: Self.offset(number)) else { return nil }
    return bytes.withUnsafeBytes { SharedRecord($0, number, checkKey) }
  }

  /// Writes a record. The caller has the lock.
  func write(_ record: SharedRecord, _ number: UInt64) throws(FileError) {
    guard let bytes = record.encoded(number, checkKey) else { return }
    try descriptor.writeAll(bytes, at: Self.offset(number))
  }

  private static func offset(_ number: UInt64) -> Int64 {
    recordsOffset + Int64(number % SharedRecord.capacity) * Int64(SharedRecord.size)
  }
}

extension Descriptor {
  /// Writes all bytes at an offset.
  func writeAll(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(FileError) in try write(buffer, at: offset) }
    }
    try written.get()
  }
}

extension Folder {
  /// Gives a complete draft its name, unless the name is taken.
  func publish(_ draft: String, as name: String) throws(FileError) {
    _ = try renameExclusively(draft, to: name)
  }
}

/// A file that is not complete yet. The process that writes it has its lock, so that others can tell whether it is
/// still alive.
enum Draft {
  private static let prefix = "draft-"

  /// Returns a new name.
  static func name() -> String {
    prefix + String(UInt64.random(in: 0 ... .max), radix: 16)
  }

  /// Whether a name is that of a draft.
  static func isDraft(_ name: UnsafeRawBufferPointer) -> Bool {
    name.starts(with: prefix.utf8)
  }

  /// Removes a draft whose process is dead.
  static func removeIfAbandoned(_ name: String, in folder: Folder) {
    guard let file = try? folder.existing(name, for: .writing, isPrivate: false) else { return }
    // A complete file may have its name already, and its lock belongs to other work.
    let isPublished = ((try? file.linkCount) ?? 0) > 1
    guard isPublished || (try? file.lock()) ?? false else { return }
    folder.remove(name)
    if !isPublished { file.unlock() }
  }
}
