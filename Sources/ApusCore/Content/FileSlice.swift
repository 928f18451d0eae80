/// A range of the bytes of a file, for transports that read files themselves.
///
/// A stream of such bytes has a slice in addition to its pieces (``ContentStream/slice``). The transport reads the
/// slice without another copy, and ahead of its writes.
package struct FileSlice: Sendable {
  /// The offsets of the bytes.
  package let range: Range<Int64>
  /// Opens the file. Blocks. Throws if the file cannot be read, or is not the expected file.
  package let open: @Sendable () throws -> OpenSlice

  package init(range: Range<Int64>, open: @escaping @Sendable () throws -> OpenSlice) {
    (self.range, self.open) = (range, open)
  }
}

/// The open file of a ``FileSlice``.
package struct OpenSlice: Sendable {
  /// The file descriptor, open as long as this value exists.
  package let descriptor: CInt
  /// Throws if the file has changed since it was opened. Called before the last bytes are sent, so that a changed file
  /// never arrives complete.
  package let check: @Sendable () throws -> Void
  private let owner: any AnyObject & Sendable

  /// - Parameter owner: the object that closes the descriptor when it is released.
  package init(
    descriptor: CInt, owner: any AnyObject & Sendable, check: @escaping @Sendable () throws -> Void
  ) {
    (self.descriptor, self.owner, self.check) = (descriptor, owner, check)
  }
}
