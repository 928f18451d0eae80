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
    // Far more than the tests that run in parallel allocate or release meanwhile. Of these bytes only one is written, so
    // the test takes no memory. With a sanitizer the figures are 0.
    let size = 1 << 30
    let before = try Resources.now().allocatedBytes
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    bytes.storeBytes(of: 1, toByteOffset: size / 2, as: UInt8.self)
    let during = try Resources.now().allocatedBytes
    #expect(bytes.load(fromByteOffset: size / 2, as: UInt8.self) == 1)
    bytes.deallocate()
    let after = try Resources.now().allocatedBytes
    #expect(before == 0 || during - before > size / 2)
    #expect(before == 0 || during - after > size / 2)
  }
  #endif
}
