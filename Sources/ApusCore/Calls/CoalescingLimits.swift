/// How far calls share exchanges that did not name each other, see ``Endpoint/coalesced(_:)``.
public struct CoalescingLimits: Sendable, Hashable {
  /// How many bytes of an answer may be there, or be announced, for another call to join its exchange; one that comes
  /// later has an exchange of its own, which the next may join. Where the call's own ``CallContext/contentLimit`` is
  /// lower, that counts. Default: 1 MiB.
  ///
  /// Those that share have the same bytes in memory, once for all of them. However many bytes arrive, those that had
  /// joined before get their answer.
  public var sharedBytes = 1 << 20
  /// How many exchanges that calls share, or could, are under way at a time, those of named calls included; a call
  /// beyond has one that it does not share. Default: 1024.
  public var exchanges = 1024
  /// Names of fields, in lower case, that tell one call from the next and not one answer from another: calls share
  /// though they differ in them. What is sent is what the call has that began. Default: ``standardPerCallFields``.
  public var perCallFields: Set<String> = CoalescingLimits.standardPerCallFields

  /// The defaults.
  public init() {}

  /// The fields by which calls are traced (`traceparent` and its like) or numbered (`x-request-id` and its like).
  public static let standardPerCallFields: Set<String> = [
    "b3", "request-id", "traceparent", "tracestate", "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid",
    "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-correlation-id", "x-request-id",
  ]
}
