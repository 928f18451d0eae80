import Apus
import Foundation

/// A value that contains an error in several properties.
private struct Holder {
  let error: CallError
  let maybe: CallError?
  let result: Result<Int, CallError>
}

extension CallError {
  /// Returns all descriptions of this error and its underlying errors.
  ///
  /// - Parameter withContent: whether values that are for programs only, and never printed by the library, are
  ///   included.
  func printedTexts(withContent: Bool) -> [PrintedText] {
    var shown = ownTexts + (withContent ? contentTexts : [])
    var (cause, depth) = (underlying, 1)
    while let error = cause {
      shown.append(PrintedText("underlying error \(depth)", texts(of: error)))
      shown.append(
        PrintedText("underlying error \(depth), localized", (error as? any LocalizedError)?.errorDescription ?? ""))
      cause = nil
      if let error = error as? CallError {
        shown += error.ownTexts.map { PrintedText("underlying error \(depth), \($0.name)", $0.text) }
        if withContent { shown += error.contentTexts }
        cause = error.underlying
      } else if let error = error as? TransportError {
        cause = error.underlying
      }
      depth += 1
    }
    return shown
  }

  private var ownTexts: [PrintedText] {
    [
      PrintedText("error's description", description), PrintedText("error's debugDescription", debugDescription),
      PrintedText("error's errorDescription", errorDescription ?? ""), PrintedText("error's sentence", message),
      PrintedText("error's failureReason", failureReason ?? ""),
      PrintedText("error's recoverySuggestion", recoverySuggestion ?? ""),
      PrintedText("error's localizedDescription", localizedDescription), PrintedText("error's detail", detail),
      PrintedText("error's place", codingPath ?? ""), PrintedText("error", texts(of: self)),
      PrintedText("error as any other", texts(of: self as any Error)),
      PrintedText("error in a list", texts(of: [self])),
      PrintedText("error that is held", texts(of: Holder(error: self, maybe: self, result: .failure(self)))),
      PrintedText("error's trace", "\(trace)"), PrintedText("error's trace, dumped", texts(of: trace)),
      PrintedText("error's endpoint", texts(of: endpoint)), PrintedText("error's id", texts(of: id)),
      PrintedText("error's cancellation", texts(of: cancellation as Any)),
    ]
  }

  private var contentTexts: [PrintedText] {
    [
      PrintedText("error's content", String(decoding: content?.data ?? Data(), as: UTF8.self)),
      PrintedText("error's rejection", texts(of: rejection as Any)),
    ]
  }
}
