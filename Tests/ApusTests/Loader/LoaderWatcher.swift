import Apus
import Observation

/// An observer that reads the phase after each change on the main actor, like a view.
@MainActor
final class LoaderWatcher {
  private(set) var changes = 0
  private let loader: Loader<String>

  init(_ loader: Loader<String>) {
    self.loader = loader
    track()
  }

  private func track() {
    withObservationTracking {
      _ = loader.phase
    } onChange: { [weak self] in
      guard let self else { return }
      // The change happens after this callback, in the current job of the main actor.
      MainActor.assumeIsolated { self.noteChange() }
    }
  }

  private func noteChange() {
    changes += 1
    track()
  }
}

/// Runs an action once, when a loader's phase is about to change.
@MainActor
func onNextChange(of loader: Loader<String>, _ action: @escaping @MainActor () -> Void) {
  let once = Once(action)
  withObservationTracking {
    _ = loader.phase
  } onChange: {
    MainActor.assumeIsolated { once.perform() }
  }
}

/// An observer that changes the loader once during a notification, which causes another notification.
@MainActor
private final class Once {
  private var action: (@MainActor () -> Void)?

  init(_ action: @escaping @MainActor () -> Void) {
    self.action = action
  }

  func perform() {
    let action = action
    self.action = nil
    action?()
  }
}

/// The state of a screen, on the main actor.
@MainActor
final class LoadingScreen {
  var text = "a"
  var count = 0
  var load: Task<Void, Never>?
}

/// A weak reference to a loader.
@MainActor
struct ForgottenLoader {
  weak var loader: Loader<String>?
}
