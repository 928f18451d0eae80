import ApusCore
import Testing

@Suite("Reasons to wait")
struct WaitingCauseTests {
  @Test(
    "Every reason has a text",
    arguments: [
      (WaitingCause.held, "held by the app"), (.tag(limit: 4), "concurrency limit of its tag, 4"),
      (.origin(limit: 5), "concurrency limit of its origin, 5"), (.total(limit: 64), "global concurrency limit, 64"),
      (.others, "behind other calls"), (.rateLimit, "rate limit"), (.network, "no network"),
    ])
  func texts(cause: WaitingCause, text: String) {
    #expect(cause.description == text)
  }
}
