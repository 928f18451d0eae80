/// Conversion of Gregorian dates in UTC to seconds since 1970.
package enum CivilTime {
  /// Returns seconds since 1970, or `nil` for an invalid date or time. A leap second counts as the first second of the
  /// next minute.
  package static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int64? {
    guard (1...12).contains(month), day >= 1, day <= days(in: month, of: year), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return Int64(((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // In this calculation years begin in March, so that the leap day is the last day of its year.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    // The division rounds down, also for negative years.
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
