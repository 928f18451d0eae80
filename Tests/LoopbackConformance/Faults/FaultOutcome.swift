public import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The outcome of a call with a fault.
public enum FaultOutcome: Sendable, Hashable, CustomStringConvertible {
  /// The call returned the server's response.
  case answered
  /// The call returned other content, which is indistinguishable from a response.
  case otherContent
  /// The call failed.
  case failed(CallError.Code, RequestState)
  /// The call threw an error that is not a `CallError`.
  case unknown

  init(of call: Task<Content, any Error>, expecting text: String) async {
    do {
      let content = try await call.value
      self = String(decoding: content.data, as: UTF8.self) == text ? .answered : .otherContent
    } catch let error as CallError {
      self = .failed(error.code, error.requestState)
    } catch {
      self = .unknown
    }
  }

  /// The outcome in one or two words.
  public var description: String {
    switch self {
    case .answered: "answered"
    case .otherContent: "other content"
    case .failed(let code, let state): "\(code.rawValue), \(state)"
    case .unknown: "unknown"
    }
  }
}
