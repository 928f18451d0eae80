/// The ASCII form of host labels in other alphabets (RFC 3492).
enum Punycode {
  private static let base = 36
  private static let tMin = 1
  private static let tMax = 26
  private static let skew = 38
  private static let damp = 700

  /// The label's code, without the `xn--`; `nil` when it overflows.
  static func encode(_ label: String) -> String? {
    let scalars = label.unicodeScalars.map { Int($0.value) }
    var output = label.unicodeScalars.filter(\.isASCII).map(Character.init)
    let basicCount = output.count
    if basicCount > 0 { output.append("-") }
    var (code, delta, bias, handled) = (128, 0, 72, basicCount)
    while handled < scalars.count {
      guard let next = scalars.filter({ $0 >= code }).min() else { return nil }
      let (step, overflow) = (next - code).multipliedReportingOverflow(by: handled + 1)
      guard !overflow else { return nil }
      delta += step
      code = next
      for scalar in scalars {
        if scalar < code { delta += 1 }
        guard scalar == code else { continue }
        output += digits(of: delta, bias: bias)
        bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return String(output)
  }

  private static func digits(of delta: Int, bias: Int) -> [Character] {
    var result: [Character] = []
    var (quotient, position) = (delta, base)
    while true {
      let threshold = position <= bias ? tMin : position >= bias + tMax ? tMax : position - bias
      if quotient < threshold { break }
      result.append(digit(threshold + (quotient - threshold) % (base - threshold)))
      quotient = (quotient - threshold) / (base - threshold)
      position += base
    }
    result.append(digit(quotient))
    return result
  }

  private static func digit(_ value: Int) -> Character {
    Character(Unicode.Scalar(UInt8(value < 26 ? value + 97 : value - 26 + 48)))
  }

  private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var bias = 0
    while delta > (base - tMin) * tMax / 2 {
      delta /= base - tMin
      bias += base
    }
    return bias + (base - tMin + 1) * delta / (delta + skew)
  }
}
