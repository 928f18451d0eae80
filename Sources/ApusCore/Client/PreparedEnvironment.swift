import HTTPTypes

/// An environment with everything worked out once that every call needs of it.
final class PreparedEnvironment: Sendable {
  let environment: Environment
  let base: Result<BaseURL.Parts, CallFault>
  /// The environment's own `Accept`, which counts where an endpoint asks for nothing in particular.
  let accept: HTTPFields?

  init(_ environment: Environment) {
    self.environment = environment
    base = environment.baseURL.parts.mapError { CallFault(.invalidRequest, "\($0)") }
    // One that cannot be sent is refused where all common fields are added.
    accept = environment.fields.lazy.compactMap { try? FieldRules.field($0) }.first { $0.name == .accept }
      .map { HTTPFields([$0]) }
  }
}
