import ApusCore

/// The part of a queue in an upload.
struct UploadHooks<Value: Sendable>: Sendable {
  /// See ``UploadPlace/noteEnd``.
  var noteEnd: UploadPlace.NoteEnd = { _ in false }
  /// Called with the result.
  var whenComplete: @Sendable (UploadResult<Value>) async -> Void = { _ in }
}

/// A complete upload of which the app may not know, as a queue stores it.
struct CompleteUpload: Codable, Hashable, Sendable {
  /// As ``UploadResult/url``.
  let url: String?
  let size: Int64
}
