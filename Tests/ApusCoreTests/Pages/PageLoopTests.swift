import Testing

@testable import ApusCore

@Suite("The state of a loop over pages")
struct PageLoopTests {
  private typealias Turn = PageSource<Int>.Turn

  private func number(_ number: Int) -> PagePosition { PagePosition(.number(number)) }
  private func url(_ url: String) -> PagePosition { PagePosition(.url(url)) }

  @Test("A page loop fetches the next position of each page, and ends after a page without a next position")
  func order() {
    var loop = PageLoop(from: nil, limit: 9)
    #expect(loop.advance() == .fetch(nil))
    #expect(loop.receive(Turn(next: number(2)), fingerprint: 1) == nil)
    #expect(loop.advance() == .fetch(number(2)))
    #expect(loop.receive(Turn(next: nil), fingerprint: 2) == nil)
    #expect(loop.advance() == .end)
    #expect(loop.advance() == .end)
  }

  @Test("A page loop fetches no further page while a page is in flight, and after a page has failed")
  func failure() {
    var loop = PageLoop(from: number(3), limit: 9)
    #expect(loop.advance() == .fetch(number(3)))
    #expect(loop.advance() == .end)
  }

  @Test("A page loop repeats a refusal until the loop is ended")
  func refusal() {
    var loop = PageLoop(from: nil, limit: 1)
    _ = loop.advance()
    #expect(loop.receive(Turn(next: number(2)), fingerprint: nil) == nil)
    #expect(loop.advance() == .refuse("the list goes on after 1 pages"))
    #expect(loop.advance() == .refuse("the list goes on after 1 pages"))
    loop.end()
    #expect(loop.advance() == .end)
  }

  @Test("A position is refused if it was fetched before, started the loop, or is the page's own position")
  func repeats() {
    let cases: [(start: PagePosition?, own: PagePosition?, next: PagePosition)] = [
      (url("a"), nil, url("a")), (nil, url("a"), url("a")), (url("a"), url("b"), url("b")),
      (url("a"), url("b"), url("a")),
    ]
    for (start, own, next) in cases {
      var loop = PageLoop(from: start, limit: 9)
      _ = loop.advance()
      #expect(loop.receive(Turn(own: own, next: next), fingerprint: nil) == nil)
      #expect(loop.advance() == .refuse("the list leads back to a page that it contained before"))
    }
  }

  @Test(
    "Only two consecutive equal pages are refused, and only with fingerprints",
    arguments: [
      ([1, 1], false), ([1, 2, 1], true), ([nil, nil], true), ([1, nil, 1], true), ([1, 2, 2], false),
    ] as [([Int?], Bool)])
  func equalPages(fingerprints: [Int?], isAccepted: Bool) {
    var loop = PageLoop(from: nil, limit: 9)
    var reasons: [String] = []
    for (index, fingerprint) in fingerprints.enumerated() {
      guard case .fetch = loop.advance() else { break }
      if let reason = loop.receive(Turn(next: number(index)), fingerprint: fingerprint) { reasons.append(reason) }
    }
    #expect(reasons == (isAccepted ? [] : ["two pages in a row are the same"]))
    if !isAccepted { #expect(loop.advance() == .end) }
  }

  @Test("A loop refuses the hundredth consecutive page without elements, and its 20,000th page without elements")
  func emptyPages() {
    var inRow = EmptyPages()
    for _ in 1..<100 { #expect(inRow.receive(isEmpty: true) == nil) }
    var other = inRow
    #expect(inRow.receive(isEmpty: true) == "100 pages in a row have no elements, and the list goes on")
    // A page with elements resets the count of consecutive empty pages.
    #expect(other.receive(isEmpty: false) == nil && other.receive(isEmpty: true) == nil)

    var inAll = EmptyPages()
    var reasons: [String] = []
    for index in 0..<40_000 {
      if let reason = inAll.receive(isEmpty: index % 2 == 1) { reasons.append(reason) }
    }
    #expect(reasons == ["20000 pages have no elements, and the list goes on"])
  }
}
