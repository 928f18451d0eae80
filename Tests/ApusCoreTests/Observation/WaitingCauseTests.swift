import ApusCore
import Testing

@Suite("Reasons to wait")
struct WaitingCauseTests {
  @Test(
    "Every reason has a text",
    arguments: [
      (WaitingCause.held, "held back"), (.tag(limit: 4), "4 calls with its tag at a time"),
      (.origin(limit: 5), "5 calls to its server at a time"), (.total(limit: 64), "64 calls at a time"),
      (.others, "others go first"), (.rateLimit, "the rate limit"), (.network, "there is no network"),
    ])
  func texts(cause: WaitingCause, text: String) {
    #expect(cause.description == text)
  }
}
