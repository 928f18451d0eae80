import Apus
import ApusTransfers
import HTTPTypes
import Synchronization

/// An observer that stores the name that a server suggests for a file.
///
/// Only the first response is sure to have the field `Content-Disposition`: the response to a range request may leave
/// it out (RFC 9110 §15.3.7).
final class NameWatch: CallObserver {
  private struct State {
    var name: FileName?
    var isExplicit = false
  }

  private let state = Mutex(State())

  /// The name in the first response with `Content-Disposition`, otherwise the name in the last response. `nil` without
  /// a successful response.
  var name: FileName? { state.withLock { $0.name } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .succeeded, .failed: break
    default: return
    }
    guard let head = call.head, 200..<300 ~= head.status.code else { return }
    let url = call.request.map { "\($0.scheme ?? "")://\($0.authority ?? "")\($0.path ?? "")" }
    store(head, url: url)
  }

  /// Stores the name in a response.
  func store(_ head: HTTPResponse, url: String?) {
    let name = FileName.suggested(by: head, url: url)
    state.withLock { state in
      guard !state.isExplicit else { return }
      (state.name, state.isExplicit) = (name, head.headerFields[.contentDisposition] != nil)
    }
  }
}
