#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension CallError: LocalizedError {
  /// A sentence that can be shown to a person, in the client's ``ErrorTexts``.
  public var sentence: String { storage.call.errorTexts.text(self) }

  /// The ``sentence``, for code that knows `LocalizedError` only.
  public var errorDescription: String? { sentence }
}

extension CallError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// For logs: code, endpoint template, status, phase and place; nothing that came from a value.
  public var description: String {
    var parts = ["\(code.rawValue): \(endpoint)"]
    if let status { parts.append("status \(status)") }
    if let cancellation { parts.append("\(cancellation)") }
    if !detail.isEmpty { parts.append(place.map { "\(detail) at \($0)" } ?? detail) }
    parts.append("\(requestState.rawValue) while \(phase.rawValue)")
    if let retryAfter { parts.append("retry after \(retryAfter)") }
    // That a failure is no passing one is plain from its code.
    if case .end(let reason)? = failedAttempts.last?.decision, reason != .notTemporary {
      parts.append("not tried again \(reason)")
    }
    return parts.joined(separator: ", ")
  }

  /// The same as ``description``: debuggers and logs must not show more.
  public var debugDescription: String { description }

  /// Shows ``description`` alone, so that `dump` shows no more either.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
