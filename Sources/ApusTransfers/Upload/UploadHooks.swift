import ApusCore

/// The callbacks of the queue that performs an upload.
struct UploadHooks<Value: Sendable>: Sendable {
  /// See ``UploadPlace/storeEnd``.
  var storeEnd: UploadPlace.StoreEnd = { _ in false }
  /// Called with the result.
  var whenComplete: @Sendable (UploadResult<Value>) async -> Void = { _ in }
}

/// A complete upload, stored by a queue until the app is notified.
struct CompleteUpload: Codable, Hashable, Sendable {
  /// See ``UploadResult/url``.
  let url: String?
  let size: Int64
}
