/// An environment with everything worked out once that every call needs of it.
final class PreparedEnvironment: Sendable {
  let environment: Environment
  let base: Result<BaseURL.Parts, CallFault>

  init(_ environment: Environment) {
    self.environment = environment
    base = environment.baseURL.parts.mapError { CallFault(.invalidRequest, "\($0)") }
  }
}
