import Apus
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The progress bar")
struct ProgressBarTests {
  private func received(_ bytes: Int64, of total: Int64?) -> ProgressBar.Transfer {
    .init(direction: .received, bytes: bytes, total: total)
  }

  @Test("Short transfers are not drawn")
  func patience() {
    var bar = ProgressBar(width: 80)
    #expect(bar.update(received(1, of: 2), elapsed: .milliseconds(999)) == nil)
    #expect(bar.finish() == nil)
  }

  @Test("A long transfer is redrawn at intervals and erased at the end")
  func drawing() throws {
    var bar = ProgressBar(width: 80)
    let drawing = bar.update(received(512, of: 2048), elapsed: .seconds(1))
    let first = try #require(drawing)
    #expect(first.hasPrefix("\r[") && first.hasSuffix("\u{1B}[K"))
    #expect(first.contains("25%  512 B of 2.0 KiB  512 B/s  0:03 left"))
    #expect(bar.update(received(600, of: 2048), elapsed: .milliseconds(1099)) == nil)
    #expect(bar.update(received(600, of: 2048), elapsed: .milliseconds(1100)) != nil)
    #expect(bar.finish() == "\r\u{1B}[K")
    #expect(bar.finish() == nil)
  }

  @Test("The bar fills as bytes arrive")
  func filling() {
    let bar = ProgressBar(width: 100)
    #expect(
      bar.line(received(0, of: 100), elapsed: .seconds(1)).hasPrefix("[" + String(repeating: ".", count: 40) + "]"))
    #expect(
      bar.line(received(50, of: 100), elapsed: .seconds(1)).hasPrefix("[" + String(repeating: "#", count: 20) + "."))
    #expect(
      bar.line(received(100, of: 100), elapsed: .seconds(1)).hasPrefix("[" + String(repeating: "#", count: 40) + "]"))
  }

  @Test("Without a known total, the bytes and the rate are printed")
  func unknown() {
    let bar = ProgressBar(width: 80)
    #expect(bar.line(received(3 << 20, of: nil), elapsed: .seconds(2)) == "received 3.0 MiB  1.5 MiB/s")
    #expect(
      bar.line(.init(direction: .sent, bytes: 10, total: nil), elapsed: .seconds(2)) == "sent 10 B  5 B/s")
  }

  @Test("The rate of the last seconds replaces the average, for example after a continued download")
  func rate() {
    let bar = ProgressBar(width: 80)
    let transfer = ProgressBar.Transfer(direction: .received, bytes: 1 << 20, total: 2 << 20, bytesPerSecond: 1024)
    #expect(bar.line(transfer, elapsed: .seconds(1)).hasSuffix("50%  1.0 MiB of 2.0 MiB  1.0 KiB/s  17:04 left"))
  }

  @Test("The line never exceeds the width", arguments: [0, 1, 10, 30, 60, 81, 200])
  func width(width: Int) {
    let bar = ProgressBar(width: width)
    for transfer in [
      received(0, of: 0), received(.max, of: .max), received(10, of: 3), received(1, of: .max), received(-1, of: -1),
      received(5, of: nil),
    ] {
      for elapsed in [Duration.zero, .seconds(1), .seconds(1_000_000)] {
        #expect(bar.line(transfer, elapsed: elapsed).count <= max(0, width - 1))
      }
    }
  }
}
