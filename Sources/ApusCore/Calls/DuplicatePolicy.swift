/// What happens when a call names an id that a running call has already.
public enum DuplicatePolicy: Sendable, Hashable {
  /// Both run; the id then stands for both.
  case allow
  /// The new call ends at once with the code ``CallError/Code/declined``; nothing is sent.
  case refuse
  /// The running calls end as superseded, the new one runs: latest wins.
  case replace
  /// The new call shares the running one's exchange when both send the same message; each decodes for
  /// itself, has its own deadline and can be cancelled alone. The exchange has none, see
  /// ``Endpoint/coalesced(_:)``.
  case join
}
