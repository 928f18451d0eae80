import Testing

@testable import ApusCore

@Suite("The table of shared exchanges")
struct FlightTableTests {
  private final class Plane {}

  @Test(
    "The first call leads and the next call joins; a call that cannot join leads another exchange, which later calls join"
  )
  func joining() {
    var table = FlightTable<String, Plane>()
    let (first, second, third) = (Plane(), Plane(), Plane())
    guard case .began(let begun, insteadOf: nil) = table.enter("a", limit: 9, join: { _ in true }, make: { first })
    else { return failed() }
    guard case .joined(let joined) = table.enter("a", limit: 9, join: { _ in true }, make: { second }) else {
      return failed()
    }
    #expect(begun === first && joined === first)
    let entry = table.enter("a", limit: 9, join: { _ in false }, make: { third })
    guard case .began(let other, insteadOf: let refusing?) = entry else { return failed() }
    #expect(other === third && refusing === first)
    guard case .joined(let newest) = table.enter("a", limit: 9, join: { _ in true }, make: { second }) else {
      return failed()
    }
    #expect(newest === third)
    #expect(table.count == 2)
    table.end(first, "a")
    guard case .joined = table.enter("a", limit: 9, join: { _ in true }, make: { second }) else { return failed() }
    table.end(third, "a")
    #expect(table.isEmpty)
  }

  @Test(
    "Beyond the limit of exchanges a call can join an exchange but cannot lead one"
  )
  func limit() {
    var table = FlightTable<String, Plane>()
    let planes = ["a": Plane(), "b": Plane()]
    for (key, plane) in planes { _ = table.enter(key, limit: 2, join: { _ in true }, make: { plane }) }
    guard case .alone = table.enter("c", limit: 2, join: { _ in true }, make: { Plane() }) else { return failed() }
    guard case .alone = table.enter("a", limit: 2, join: { _ in false }, make: { Plane() }) else { return failed() }
    guard case .joined = table.enter("a", limit: 2, join: { _ in true }, make: { Plane() }) else { return failed() }
    guard case .began = table.enter("c", limit: .max, join: { _ in true }, make: { Plane() }) else { return failed() }
    #expect(table.count == 3)
    for (key, plane) in planes { table.end(plane, key) }
    #expect(table.count == 1 && !table.isEmpty)
  }

  private func failed(at location: SourceLocation = #_sourceLocation) {
    Issue.record("another entry than expected", sourceLocation: location)
  }
}
