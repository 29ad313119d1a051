// Reads what the kernel counts of a process.

import Foundation

/// What a process has read, written and touched so far, or between two times.
struct ProcessCounters {
  /// Bytes that it wrote to files and pipes, and read from there.
  var bytesWritten: Int
  var bytesRead: Int

  /// Bytes of its memory that belong to no file, and bytes of files that it has mapped.
  var anonymousBytes: Int
  var mappedBytes: Int

  /// How often a page had to be found for it, without the disk.
  var pageFaults: Int

  init(of process: pid_t) {
    let traffic = Self.fields("/proc/\(process)/io")
    let status = Self.fields("/proc/\(process)/status")
    bytesWritten = traffic["wchar"] ?? 0
    bytesRead = traffic["rchar"] ?? 0
    anonymousBytes = (status["RssAnon"] ?? 0) << 10
    // The second are those of files that are in memory alone.
    mappedBytes = ((status["RssFile"] ?? 0) + (status["RssShmem"] ?? 0)) << 10
    pageFaults = Self.pageFaults(of: process)
  }

  /// What has come since an earlier time; the memory since another, when there was none to give
  /// back.
  func since(_ before: ProcessCounters, memorySince idle: ProcessCounters) -> ProcessCounters {
    var difference = self
    difference.bytesWritten -= before.bytesWritten
    difference.bytesRead -= before.bytesRead
    difference.anonymousBytes -= idle.anonymousBytes
    difference.mappedBytes -= idle.mappedBytes
    difference.pageFaults -= before.pageFaults
    return difference
  }

  /// The lines of a file that look like "key: 123".
  private static func fields(_ path: String) -> [String: Int] {
    var fields: [String: Int] = [:]
    for line in text(path).split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == ":" || $0 == " " || $0 == "\t" })
      if words.count >= 2, let number = Int(words[1]) { fields[String(words[0])] = number }
    }
    return fields
  }

  /// The tenth field of the file `stat`, whose second one may have blanks between its parentheses.
  private static func pageFaults(of process: pid_t) -> Int {
    let rest = text("/proc/\(process)/stat").split(separator: ")").last ?? ""
    let words = rest.split(separator: " ")
    return words.count > 7 ? Int(words[7]) ?? 0 : 0
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}
