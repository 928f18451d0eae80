/// The identifier of the transfer that a call belongs to. A transport whose exchanges outlive the process finds the
/// exchange of an earlier process by it. Default: `nil`, a call that ends with its process.
package enum BackgroundTransferKey: ContextKey {
  package static let defaultValue: String? = nil
  package static let affectsCoalescing = false
}
