import Apus
import Foundation

/// What holds an error somewhere.
private struct Holder {
  let error: CallError
  let maybe: CallError?
  let result: Result<Int, CallError>
}

extension CallError {
  /// Everything that shows it, and each error beneath it.
  ///
  /// - Parameter withContent: whether what is kept for programs, and never printed, is shown as well.
  func shownTexts(withContent: Bool) -> [ShownText] {
    var shown = ownTexts + (withContent ? contentTexts : [])
    var (cause, depth) = (underlying, 1)
    while let error = cause {
      shown.append(ShownText("underlying error \(depth)", texts(of: error)))
      shown.append(
        ShownText("underlying error \(depth), localized", (error as? any LocalizedError)?.errorDescription ?? ""))
      cause = nil
      if let error = error as? CallError {
        shown += error.ownTexts.map { ShownText("underlying error \(depth), \($0.name)", $0.text) }
        if withContent { shown += error.contentTexts }
        cause = error.underlying
      } else if let error = error as? TransportError {
        cause = error.underlying
      }
      depth += 1
    }
    return shown
  }

  private var ownTexts: [ShownText] {
    [
      ShownText("error's description", description), ShownText("error's debugDescription", debugDescription),
      ShownText("error's errorDescription", errorDescription ?? ""), ShownText("error's sentence", message),
      ShownText("error's failureReason", failureReason ?? ""),
      ShownText("error's recoverySuggestion", recoverySuggestion ?? ""),
      ShownText("error's localizedDescription", localizedDescription), ShownText("error's detail", detail),
      ShownText("error's place", codingPath ?? ""), ShownText("error", texts(of: self)),
      ShownText("error as any other", texts(of: self as any Error)),
      ShownText("error in a list", texts(of: [self])),
      ShownText("error that is held", texts(of: Holder(error: self, maybe: self, result: .failure(self)))),
      ShownText("error's trace", "\(trace)"), ShownText("error's trace, dumped", texts(of: trace)),
      ShownText("error's endpoint", texts(of: endpoint)), ShownText("error's id", texts(of: id)),
      ShownText("error's cancellation", texts(of: cancellation as Any)),
    ]
  }

  private var contentTexts: [ShownText] {
    [
      ShownText("error's content", String(decoding: content?.data ?? Data(), as: UTF8.self)),
      ShownText("error's rejection", texts(of: rejection as Any)),
    ]
  }
}
