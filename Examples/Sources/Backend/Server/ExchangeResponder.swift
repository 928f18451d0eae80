import HTTPTypes
import Hummingbird

/// Stands before the router: finds the exchange's connection, adds the latency, holds or loses the answer, notes it.
struct ExchangeResponder<Router: HTTPResponder<BackendContext>>: HTTPResponder {
  let router: Router
  let connections: Connections
  let latency: Duration
  let held: HeldAnswers
  let lost: LostAnswers

  func respond(to request: Request, context: BackendContext) async throws -> Response {
    var context = context
    context.connection = connections[context.channel]
    if latency > .zero, request.uri.path != LogRoutes.path {
      try await context.pause(for: latency)
    }
    var response = try await router.respond(to: request, context: context)
    let subject = "\(request.method.rawValue) \(request.uri.path)"
    await held.pass(subject)
    if lost.takes(subject) { response = Problem(.badGateway, "The answer was lost on its way.").response() }
    // Content after the answer to HEAD would be taken for the next answer.
    if request.method == .head { response = response.createHeadResponse() }
    // Before the head is written, so that a client that has the answer finds the status in the log.
    context.exchange?.answering(status: response.status.code, contentLength: response.body.contentLength)
    return response
  }
}
