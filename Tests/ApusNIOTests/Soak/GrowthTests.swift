import Testing

@testable import LoopbackConformance

@Suite("Growth detection of soak tests")
struct GrowthTests {
  private func finding(_ bytes: [Int], descriptors: [Int] = [], allowed: Int? = 1000) -> String? {
    var growth = Growth(allowed: allowed)
    for (index, bytes) in bytes.enumerated() {
      let descriptors = descriptors.indices.contains(index) ? descriptors[index] : 40
      growth.add(Resources(descriptors: descriptors, allocatedBytes: bytes))
    }
    return growth.finding
  }

  @Test("Growth is measured between the minima of the middle and the last third")
  func bytes() {
    #expect(finding([0, 5000, 5000, 5900, 5900, 6000]) == nil)
    #expect(finding([0, 5000, 5000, 5000, 6001, 7000]) == "1001 more bytes in [0, 5000, 5000, 5000, 6001, 7000]")
    #expect(finding([0, 0, 5000, 5000, 9000, 5500]) == nil)
    #expect(finding([0, 0, 5000, 5000, 9000, 9000], allowed: nil) == nil)
    #expect(finding([0, 1 << 30]) == nil)
  }

  @Test("Growth of file descriptors is detected, too")
  func descriptors() {
    #expect(finding([0, 0, 0], descriptors: [10, 20, 36]) == nil)
    #expect(finding([0, 0, 0], descriptors: [10, 20, 37])?.hasPrefix("17 more descriptors") == true)
  }

  #if canImport(Glibc)
  @Test("The figures count resources in use and exclude released resources")
  func resources() throws {
    let before = try Resources.now().allocatedBytes
    var held = [UInt8](repeating: 1, count: 64 << 20)
    let during = try Resources.now().allocatedBytes
    held[7] = 2
    #expect(held[7] == 2)
    held = []
    let after = try Resources.now().allocatedBytes
    // The threshold is low because other tests run in parallel. With a sanitizer the figure is 0.
    #expect(before == 0 || during - before > 32 << 20)
    #expect(before == 0 || during - after > 32 << 20)
  }
  #endif
}
