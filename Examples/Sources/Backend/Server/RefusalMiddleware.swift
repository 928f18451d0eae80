import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1

/// Turns whatever a route throws into an answer of the right shape.
struct RefusalMiddleware: RouterMiddleware {
  typealias Context = BackendContext

  let templates: [RouteTemplate]
  private let logger = Logger(label: "backend")

  init(templates: [RouteTemplate]) {
    self.templates = templates
  }

  func handle(
    _ request: Request, context: BackendContext, next: @concurrent (Request, BackendContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as ClientLeft {
      // Nobody is there to read an answer.
      throw error
    } catch let error as HTTPParserError {
      // The server answers broken HTTP itself and closes the connection.
      throw error
    } catch let error as MovieProblem {
      return error.response()
    } catch {
      return answer(to: request, problem(for: error, request: request))
    }
  }

  private func problem(for error: any Error, request: Request) -> Problem {
    switch error {
    case let problem as Problem:
      return problem
    case let error as HTTPError where error.status == .notFound:
      return templates.refusal(of: request.method, path: request.uri.path)
    case let error as HTTPError:
      return Problem(error.status, error.body ?? error.status.reasonPhrase)
    default:
      // A request cancelled with the server is no failure worth a line.
      if !Task.isCancelled { logger.error("a route failed", metadata: ["error": "\(error)"]) }
      return .internalError
    }
  }

  private func answer(to request: Request, _ problem: Problem) -> Response {
    MovieRoutes.owns(path: request.uri.path) ? MovieProblem(problem).response() : problem.response()
  }
}
