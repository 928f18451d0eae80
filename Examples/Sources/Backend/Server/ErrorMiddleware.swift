import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1

/// A middleware that converts the errors of routes into responses.
struct ErrorMiddleware: RouterMiddleware {
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
      // No client is left to respond to.
      throw error
    } catch let error as HTTPParserError {
      // The server responds to malformed HTTP itself and closes the connection.
      throw error
    } catch let error as OAuthProblem {
      return error.response()
    } catch let error as MovieProblem {
      return error.response()
    } catch {
      return response(to: request, problem(for: error, request: request))
    }
  }

  private func problem(for error: any Error, request: Request) -> Problem {
    switch error {
    case let problem as Problem:
      return problem
    case let error as HTTPError where error.status == .notFound:
      return templates.problem(of: request.method, path: request.uri.path)
    case let error as HTTPError:
      return Problem(error.status, error.body ?? error.status.reasonPhrase)
    default:
      // Requests cancelled by the server's shutdown are not logged.
      if !Task.isCancelled { logger.error("a route failed", metadata: ["error": "\(error)"]) }
      return .internalError
    }
  }

  private func response(to request: Request, _ problem: Problem) -> Response {
    MovieRoutes.owns(path: request.uri.path) ? MovieProblem(problem).response() : problem.response()
  }
}
