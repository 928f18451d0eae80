import ApusCore
import Testing

@Suite("Queue reasons")
struct QueueReasonTests {
  @Test(
    "Every queue reason has a description",
    arguments: [
      (QueueReason.held, "held by the app"), (.tag(limit: 4), "concurrency limit of its tag, 4"),
      (.origin(limit: 5), "concurrency limit of its origin, 5"), (.global(limit: 64), "global concurrency limit, 64"),
      (.behindOthers, "behind other calls"), (.rateLimit, "rate limit"), (.network, "no network"),
    ])
  func texts(cause: QueueReason, text: String) {
    #expect(cause.description == text)
  }
}
