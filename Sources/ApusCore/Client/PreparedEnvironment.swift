import HTTPTypes

/// An environment with everything worked out once that every call needs of it.
final class PreparedEnvironment: Sendable {
  let environment: Environment
  let base: Result<BaseURL.Parts, CallFault>
  /// The environment's own `Accept`, which counts where an endpoint asks for nothing in particular.
  let accept: HTTPFields?
  /// Whether calls are bound to a principal.
  let bindsCalls: Bool

  init(_ environment: Environment) {
    self.environment = environment
    bindsCalls = environment.values[PrincipalKey.self] != nil
    base = environment.baseURL.parts.mapError { CallFault(.invalidRequest, "\($0)") }
    // One that cannot be sent is refused where all common fields are added.
    accept = environment.fields.lazy.compactMap { try? FieldRules.field($0) }.first { $0.name == .accept }
      .map { HTTPFields([$0]) }
  }
}
