#if NIO
  public import ApusCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What became of a call that suffered a fault.
  public enum FaultOutcome: Sendable, Hashable, CustomStringConvertible {
    /// It was answered what the server said.
    case answered
    /// It was answered something else, which nothing tells from an answer.
    case otherContent
    /// It failed.
    case failed(CallError.Code, RequestState)
    /// It threw something that no call throws.
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

    /// A word or two.
    public var description: String {
      switch self {
      case .answered: "answered"
      case .otherContent: "other content"
      case .failed(let code, let state): "\(code.rawValue), \(state.rawValue)"
      case .unknown: "unknown"
      }
    }
  }
#endif
