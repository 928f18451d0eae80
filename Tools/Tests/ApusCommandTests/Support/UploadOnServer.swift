import ApusTestServer
import Synchronization

/// An upload on a server, by tus or the IETF draft. The server accepts all content of a request, or only a part of it.
final class UploadOnServer: Sendable {
  private struct State {
    var content: [UInt8] = []
    var stalls: Bool
    var hasStalled = false
  }

  private let state: Mutex<State>
  /// The maximum number of bytes that the server accepts in a request.
  private let part: Int

  /// - Parameters:
  ///   - part: the maximum number of bytes that the server accepts in a request.
  ///   - stalls: whether one request gets no response. With tus it is the first request that continues the upload; with
  ///     the draft it is the request that creates the upload, of which the server accepts the first part.
  init(part: Int = .max, stalls: Bool = false) {
    self.part = part
    state = Mutex(State(stalls: stalls))
  }

  /// Whether the upload has these bytes. A test that compares large arrays in `#expect` takes minutes if they differ.
  func has(_ bytes: [UInt8]) -> Bool { state.withLock { $0.content == bytes } }

  /// Whether a request with all its content has arrived and gets no response.
  var hasStalled: Bool { state.withLock { $0.hasStalled } }

  /// Returns the response by tus 1.0.
  func tus(_ request: RecordedRequest) -> Reply {
    switch request.method {
    case "POST":
      state.withLock { $0.content = [] }
      return .status(201, fields: ["Location": "/uploads/\(request.number)"])
    case "HEAD": return .status(200, fields: ["Upload-Offset": "\(offset)"])
    case "PATCH":
      if offset > 0, takesStall() { return .stalled }
      guard append(request, atMost: part) else { return .status(409) }
      return .status(204, fields: ["Upload-Offset": "\(offset)"])
    default: return .status(204)
    }
  }

  /// Returns the response by version 8 of the draft.
  func draft(_ request: RecordedRequest) -> Reply {
    switch request.method {
    case "HEAD": return .status(204, fields: ["Upload-Offset": "\(offset)", "Upload-Complete": "?0"])
    case "PATCH":
      guard append(request, atMost: .max) else { return .status(409) }
      return completed
    default:
      let fields: FieldLines = ["Location": "/uploads/\(request.number)", "Upload-Draft-Interop-Version": "8"]
      state.withLock { $0.content = Array(request.content.prefix(part)) }
      return (takesStall() ? Reply.stalled : completed).interim(104, fields: fields)
    }
  }

  private var completed: Reply { .json(#"{"id":7}"#, status: 201, fields: ["Upload-Complete": "?1"]) }

  private var offset: Int { state.withLock { $0.content.count } }

  private func takesStall() -> Bool {
    state.withLock { state in
      guard state.stalls else { return false }
      (state.stalls, state.hasStalled) = (false, true)
      return true
    }
  }

  /// Returns `false` if the content does not continue the upload.
  private func append(_ request: RecordedRequest, atMost part: Int) -> Bool {
    state.withLock { state in
      guard request.field("Upload-Offset") == "\(state.content.count)" else { return false }
      state.content += request.content.prefix(part)
      return true
    }
  }
}
