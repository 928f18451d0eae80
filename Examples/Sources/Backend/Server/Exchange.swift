import Foundation
import HTTPTypes
import Synchronization

/// An exchange, which updates its row of the log.
final class Exchange: Sendable {
  private let log: ExchangeLog
  private let sequence: Int
  private let start = ContinuousClock.now
  private let hasEnded = Mutex(false)

  init(_ head: HTTPRequest, connection: Int, time: Date, log: ExchangeLog) {
    let (path, query) = Request.parts(of: head)
    self.log = log
    sequence = log.append { sequence, atWork in
      LoggedExchange(
        sequence: sequence, connection: connection, time: time, method: head.method.rawValue,
        path: path, query: Redaction.query(query),
        userAgent: head.headerFields[.userAgent],
        requestContentLength: head.headerFields[.contentLength].flatMap(Int.init),
        credential: Redaction.credential(fields: head.headerFields, query: query),
        idempotencyKey: IdempotencyKey.fingerprint(in: head.headerFields),
        range: head.headerFields[.range],
        lastEvent: HTTPField.Name("Last-Event-ID").flatMap { head.headerFields[$0] },
        fieldNames: Set(head.headerFields.map(\.name.canonicalName)).sorted(), atWork: atWork)
    }
  }

  /// Records the account of the request's credential.
  func identified(as account: Int64) {
    log.update(sequence) { $0.account = account }
  }

  /// Records the head of the response. Called just before the head is written.
  func responding(status: Int, contentLength: Int?) {
    log.workEnded(sequence)
    log.update(sequence) { row in
      row.status = status
      row.responseContentLength = contentLength
    }
  }

  /// Records that the client disconnected, unless the exchange is over.
  func clientLeft() { end(left: true) }

  /// Records that the response was sent.
  func ended() { end(left: false) }

  private func end(left: Bool) {
    let first = hasEnded.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
    guard first else { return }
    log.workEnded(sequence)
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    log.update(sequence) { row in
      row.clientLeft = left
      row.durationMilliseconds = milliseconds
    }
  }
}

/// The responder that calls the routes. It adds latency; holds, drops or cuts the response; and logs it.
struct ExchangeResponder: Sendable {
  let routes: Routes
  let latency: Duration
  let held: HeldResponses
  let lost: LostResponses
  let cut: CutResponses

  func respond(to request: Request, context: BackendContext) async throws -> Response {
    if latency > .zero, request.path != LogRoutes.path {
      try await context.pause(for: latency)
    }
    var response = try await routes.respond(to: request, context: context)
    let subject = "\(request.method.rawValue) \(request.path)"
    await held.pass(subject)
    if lost.drops(subject) { response = Problem(.badGateway, "The response was lost.").response() }
    response = cut.applied(to: response, of: subject)
    // Recorded before the head is written, so that the log contains the status when the client has the response.
    context.exchange?.responding(status: response.status.code, contentLength: response.body.contentLength)
    return response
  }
}
