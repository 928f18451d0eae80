/// Says what a middleware, a transport or an observer is set to, for ``Client/describe()``.
///
/// Conform to it to have a middleware of your own show its settings, and take part in the search for settings that
/// contradict each other: it goes by what is said here and knows no types.
///
/// ```swift
/// struct Patience: Middleware, SelfDescribing {
///   let limit: Duration
///   var facts: [Fact] { [.attemptLimit(limit)] }
///
///   func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
///     try await next(request, context: context)
///   }
/// }
/// ```
public protocol SelfDescribing {
  /// What it is set to for calls that say nothing else themselves, in the order in which it is shown.
  ///
  /// It is shown as it is: never put in a credential, a query's value or the value of a field.
  var facts: [Fact] { get }
}
