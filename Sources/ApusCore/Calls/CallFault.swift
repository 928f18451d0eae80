/// Something core itself found wrong; becomes a ``CallError``.
struct CallFault: Error {
  let code: CallError.Code
  /// Half a sentence, without values.
  let detail: String
  /// Where in the value, for example `items[3].title`.
  let place: String?
  let underlying: (any Error)?

  init(_ code: CallError.Code, _ detail: String, place: String? = nil, underlying: (any Error)? = nil) {
    self.code = code
    self.detail = detail
    self.place = place
    self.underlying = underlying
  }
}
