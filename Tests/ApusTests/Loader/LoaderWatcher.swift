import Apus
import Observation

/// What a view would do: reads the phase each time it has changed, on the main actor.
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
      // The change is about to be made, by whoever holds the main actor.
      MainActor.assumeIsolated { self.noteChange() }
    }
  }

  private func noteChange() {
    changes += 1
    track()
  }
}

/// Does something once, at the moment at which a loader's phase is about to change.
@MainActor
func onNextChange(of loader: Loader<String>, _ action: @escaping @MainActor () -> Void) {
  let once = Once(action)
  withObservationTracking {
    _ = loader.phase
  } onChange: {
    MainActor.assumeIsolated { once.perform() }
  }
}

/// Who is told of a change is told again of one that is made meanwhile.
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

/// What a screen knows, on the main actor.
@MainActor
final class LoadingScreen {
  var text = "a"
  var count = 0
  var load: Task<Void, Never>?
}

/// Does not hold a loader.
@MainActor
struct ForgottenLoader {
  weak var loader: Loader<String>?
}
