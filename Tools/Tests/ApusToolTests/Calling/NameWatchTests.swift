import Apus
import ApusTransfers
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Names that servers suggest")
struct NameWatchTests {
  private func head(_ disposition: String?, status: HTTPResponse.Status = .ok) -> HTTPResponse {
    var head = HTTPResponse(status: status)
    head.headerFields[.contentDisposition] = disposition
    return head
  }

  @Test("The file name comes from the first response that suggests a name, otherwise from the last URL")
  func names() {
    let watch = NameWatch()
    #expect(watch.name == nil)
    watch.store(head(nil), url: "https://h/a")
    #expect(watch.name == FileName("a"))
    watch.store(head(nil, status: .partialContent), url: "https://h/b")
    #expect(watch.name == FileName("b"))
    watch.store(head("attachment; filename=c"), url: "https://h/b")
    watch.store(head(nil, status: .partialContent), url: "https://h/d")
    watch.store(head("attachment; filename=e"), url: "https://h/d")
    #expect(watch.name == FileName("c"))
  }
}
