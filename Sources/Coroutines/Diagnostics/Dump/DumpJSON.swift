// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A dump, for programs.
struct DumpJSON {
  private let dump: CoroutineDump
  private let names: NamedFrames

  init(_ dump: CoroutineDump) {
    self.dump = dump
    names = dump.names
  }

  var text: String {
    var json = JSONText()
    json.object { json in
      json.field("time", dump.time)
      json.field("process", getpid())
      json.key("schedulers")
      json.array { json in
        for scheduler in dump.schedulers { write(scheduler, to: &json) }
      }
      json.key("coroutines")
      json.array { json in
        for entry in dump.entries { write(entry, to: &json) }
      }
    }
    return json.text
  }

  private func write(_ scheduler: CoroutineDump.SchedulerEntry, to json: inout JSONText) {
    json.object { json in
      json.field("label", scheduler.label)
      json.field("liveCount", scheduler.liveCount)
      json.field("thread", scheduler.thread)
      json.field("silence", scheduler.silence)
      json.field("running", scheduler.running)
      write(stack: scheduler.addresses, to: &json)
    }
  }

  private func write(_ entry: CoroutineDump.Entry, to json: inout JSONText) {
    json.object { json in
      json.field("id", entry.id)
      json.field("name", entry.name)
      json.field("state", "\(entry.state)")
      json.field("isCancelled", entry.isCancelled)
      json.field("creationSite", entry.creationSite.description)
      json.field("parent", entry.parent)
      json.field("scheduler", entry.scheduler)
      if let wait = entry.wait {
        json.key("wait")
        json.object { json in
          json.field("operation", wait.operation)
          json.key("subjects")
          json.array { json in
            for subject in wait.subjects {
              json.object { json in
                json.field("description", subject.description)
                json.field("details", subject.details)
              }
            }
          }
          json.field("holder", wait.holder)
          json.field("nanoseconds", wait.duration.saturatedNanoseconds)
          json.field("nanosecondsLeft", wait.timeLeft?.saturatedNanoseconds)
        }
      }
      json.field("stackSize", entry.stackSize)
      json.field("stackUsed", entry.stackUsed)
      write(stack: entry.addresses, to: &json)
    }
  }

  private func write(stack addresses: [UInt], to json: inout JSONText) {
    guard !addresses.isEmpty else { return }
    json.key("stack")
    json.array { json in
      for frame in names.stack(addresses) {
        json.object { json in
          json.field("address", frame.address)
          json.field("function", frame.function)
          json.field("file", frame.file)
          json.field("line", frame.line)
          if frame.isInlined { json.field("isInlined", true) }
        }
      }
    }
  }
}
