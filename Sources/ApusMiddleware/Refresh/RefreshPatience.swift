import ApusCore

/// How long somebody waits for a refresh: until the time of its attempt is up.
final class RefreshPatience: DeadlineTarget {
  private let waiter: Refresher.Waiter
  private let refresher: Refresher

  init(of waiter: Refresher.Waiter, with refresher: Refresher) {
    (self.waiter, self.refresher) = (waiter, refresher)
  }

  func deadlinePassed() {
    refresher.giveUp(waiter)
  }
}
