import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The stored parts of an upload")
struct StoredPartsTests {
  private func parts(_ ranges: [Range<Int64>]) -> StoredParts {
    var parts = StoredParts()
    for range in ranges {
      let isInserted = parts.insert(.init(range))
      #expect(isInserted)
    }
    return parts
  }

  @Test("Parts are in order, however they are inserted, and the first gap precedes the first missing part")
  func order() {
    let ranges = (0..<6).map { Int64($0) * 10..<Int64($0) * 10 + 10 }
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2], [2, 4, 0, 1, 3, 5]] {
      var stored = StoredParts()
      for (count, index) in order.enumerated() {
        let inserted = stored.insert(.init(ranges[index]))
        #expect(inserted && stored.count == Int64(count + 1) * 10)
        let known = Set(order.prefix(count + 1))
        #expect(stored.parts.map(\.range) == known.sorted().map { ranges[$0] })
        let missing = (0..<6).first { !known.contains($0) }
        let next = missing.flatMap { missing in known.filter { $0 > missing }.min() }
        let gap = missing.map { Int64($0) * 10..<Int64(next ?? 7) * 10 }
        #expect(stored.firstGap(of: 70) == (gap ?? 60..<70))
      }
      #expect(stored.firstGap(of: 60) == nil && stored == parts(ranges))
    }
  }

  @Test("A part that overlaps another part is rejected, and an empty part has no effect")
  func overlaps() {
    var stored = parts([10..<20, 30..<40])
    for range in [5..<11, 10..<20, 12..<15, 19..<30, 5..<50, 30..<31, 39..<41] as [Range<Int64>] {
      let isInserted = stored.insert(.init(range))
      #expect(!isInserted)
    }
    let isInserted = stored.insert(.init(15..<15))
    #expect(isInserted && stored == parts([10..<20, 30..<40]) && stored.count == 20)
    #expect(stored.firstGap(of: 50) == 0..<10 && StoredParts(upTo: 10).firstGap(of: 50) == 10..<50)
    #expect(StoredParts(upTo: 10) == parts([0..<10]) && StoredParts().firstGap(of: 0) == nil)
  }

  @Test("Inserting ten times as many parts takes ten times as long")
  func linear() {
    let isLinear = LinearTime.holds(
      for: { $0 / 20 },
      { count in
        var stored = StoredParts()
        for index in 0..<Int64(count) {
          _ = stored.insert(.init(index * 10..<index * 10 + 10))
          _ = stored.firstGap(of: .max)
        }
      })
    #expect(isLinear)
  }
}
