#if canImport(Darwin)
import Dispatch

/// The system's warnings that memory is short, for a store in memory.
final class MemoryWarning: Sendable {
  private let source: any DispatchSourceMemoryPressure

  /// - Parameter action: called for each warning, on a queue of the system.
  init(_ action: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global(qos: .utility))
    source.setEventHandler(handler: DispatchWorkItem(block: action))
    source.activate()
  }

  deinit {
    source.cancel()
  }
}
#else
/// Other systems than Apple's send no warnings.
struct MemoryWarning: Sendable {
  init(_ action: @escaping @Sendable () -> Void) {}
}
#endif
