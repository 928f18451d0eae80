import ApusCore
import ApusTestServer

extension FaultCase {
  /// The possible outcomes of the call on a kind of transport.
  ///
  /// There are several outcomes if the operating system determines the order of events: if a connection is found closed
  /// before the request is written, another connection is used.
  public func expected(on kind: TransportKind) -> Set<FaultOutcome> {
    let strict =
      switch fault.trigger {
      case .connect: kind.tls == nil || kind.gateway != nil ? onConnect : duringHandshake
      case .requestHead, .requestContent, .responseHead: beforeTheHead
      case .responseContent: insideTheContent
      case .end: behindTheAnswer
      }
    guard kind.gaps.contains(.strictFraming) else { return strict }
    return strict.reduce(into: strict) { all, outcome in
      switch outcome {
      case .failed(.malformedResponse, .maybeSent): all.insert(.failed(.malformedResponse, .responded))
      case .failed(.malformedResponse, .responded): all.insert(.failed(.connectionLost, .responded))
      // A reset while connecting is reported like a missing network.
      case .failed(.connectionFailed, .notSent): all.insert(.failed(.offline, .notSent))
      default: break
      }
    }
  }

  private var duringHandshake: Set<FaultOutcome> {
    switch fault.effect {
    case .throttle: [.answered]
    // The call's deadline does not depend on the transport's progress.
    case .stall: [.failed(.timeout, .notSent), .failed(.timeout, .maybeSent)]
    case .close, .halfClose, .reset, .truncate, .garbage, .flood:
      [.failed(.tls, .notSent), .failed(.connectionFailed, .notSent)]
    }
  }

  private var onConnect: Set<FaultOutcome> {
    switch fault.effect {
    case .throttle: [.answered]
    case .stall: [.failed(.timeout, .maybeSent)]
    case .close, .halfClose, .reset:
      [.answered, .failed(.connectionLost, .maybeSent), .failed(.connectionFailed, .notSent)]
    case .truncate: [.failed(.connectionLost, .maybeSent)]
    case .garbage: [.answered, .failed(.malformedResponse, .maybeSent)]
    // A response sent before the request arrives is indistinguishable from a response to the request.
    case .flood: [.answered, .otherContent]
    }
  }

  private var beforeTheHead: Set<FaultOutcome> {
    switch fault.effect {
    case .throttle: [.answered]
    case .stall: [.failed(.timeout, .maybeSent)]
    case .close, .halfClose, .reset, .truncate: [.failed(.connectionLost, .maybeSent)]
    case .garbage, .flood: [.failed(.malformedResponse, .maybeSent)]
    }
  }

  private var insideTheContent: Set<FaultOutcome> {
    switch fault.effect {
    case .throttle: [.answered]
    // The clock may advance before the head is read.
    case .stall: [.failed(.timeout, .responded), .failed(.timeout, .maybeSent)]
    case .close, .halfClose, .truncate: [.failed(.connectionLost, .responded)]
    case .reset: [.failed(.connectionLost, .responded), .failed(.connectionLost, .maybeSent)]
    case .garbage: framing == .counted ? [.otherContent] : [.failed(.malformedResponse, .responded)]
    case .flood: [.failed(.contentTooLarge, .responded)]
    }
  }

  private var behindTheAnswer: Set<FaultOutcome> {
    if case .reset = fault.effect {
      return [.answered, .failed(.connectionLost, .responded), .failed(.connectionLost, .maybeSent)]
    }
    return [.answered]
  }
}
