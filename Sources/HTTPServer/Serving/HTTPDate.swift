// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The time in the form of RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static var now: String { text(Int(time(nil))) }

  /// A time so many seconds after the beginning of 1970, or more.
  static func text(_ seconds: Int) -> String {
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = date(days)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    return "\(Self.days[days % 7]), \(two(day)) \(months[month - 1]) \(year) \(time) GMT"
  }

  /// The date so many days after 1 January 1970.
  private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    var (year, rest) = (1970, days)
    while case let length = isLeap(year) ? 366 : 365, rest >= length {
      rest -= length
      year += 1
    }
    var month = 1
    for length in [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
      if rest < length { break }
      rest -= length
      month += 1
    }
    return (year, month, rest + 1)
  }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }
}
