// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Selects that meet other selects, and themselves.
@Suite struct SelectMeetingTests {
  @Test func `exactly one clause takes effect (rule 4)`() throws {
    try runBlocking {
      let channels = (0..<3).map { _ in Channel<Int>(capacity: 1) }
      for channel in channels { try channel.send(1) }
      for left in [2, 1, 0] {
        _ = try select {
          Receive(from: channels[0]) { $0 }
          Receive(from: channels[1]) { $0 }
          Receive(from: channels[2]) { $0 }
        }
        #expect(channels.reduce(0) { $0 + $1.count } == left)
      }
    }
  }

  @Test func `one channel in several clauses gives its value to one of them`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      var taken: [Int] = []
      let selecting = launch {
        for _ in 0..<10 {
          try select {
            Receive(from: channel) { taken.append($0) }
            Receive(from: channel) { taken.append($0) }
          }
        }
      }
      for value in 0..<10 { try channel.send(value) }
      try selecting.value()
      #expect(taken == Array(0..<10))
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }

  @Test func `a select that sends to and receives from one channel does not meet itself`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let selecting = launch {
        try select {
          Send(1, to: channel) { "sent" }
          Receive(from: channel) { "received \($0)" }
        }
      }
      try letOthersRun()
      #expect(selecting.state == .suspended)
      try channel.send(2)
      try #expect(selecting.value() == "received 2")
      let again = launch {
        try select {
          Send(3, to: channel) { "sent" }
          Receive(from: channel) { "received \($0)" }
        }
      }
      try letOthersRun()
      try #expect(channel.receive() == 3)
      try #expect(again.value() == "sent")
    }
  }

  @Test func `two selects on one channel meet each other`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let both = (0..<2).map { number in
        launch {
          try select {
            Send(number, to: channel) { "sent \(number)" }
            Receive(from: channel) { "received \($0)" }
          }
        }
      }
      let outcomes = try both.map { try $0.value() }
      #expect(
        outcomes == ["sent 0", "received 0"] || outcomes == ["received 1", "sent 1"],
        "\(outcomes)"
      )
    }
  }

  @Test func `two selects cross over two channels`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      for _ in 0..<100 {
        let left = launch {
          try select {
            Send(1, to: one) { 10 }
            Receive(from: other) { $0 }
          }
        }
        let right = launch {
          try select {
            Send(2, to: other) { 20 }
            Receive(from: one) { $0 }
          }
        }
        let (first, second) = (try left.value(), try right.value())
        #expect((first, second) == (10, 1) || (first, second) == (2, 20))
      }
    }
  }

  @Test func `a full channel in both roles prefers neither for ever`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      try channel.send(0)
      var (sends, receives) = (0, 0)
      for _ in 0..<1_000 {
        try select {
          Send(1, to: channel) { sends += 1 }
          Receive(from: channel) { _ in receives += 1 }
        }
      }
      #expect(sends > 300 && receives > 300)
      #expect(channel.count == 1 + sends - receives)
    }
  }

  @Test func `parked selects keep their places in line (rule 4)`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let order = Steps<Int>()
      for index in 0..<20 {
        launch {
          if index % 2 == 0 {
            try select {
              Receive(from: other) { _ in }
              Receive(from: one) { #expect($0 == index) }
            }
          } else {
            try #expect(one.receive() == index)
          }
          order.add(index)
        }
      }
      try letOthersRun()
      for value in 0..<20 { try one.send(value) }
      try letOthersRun()
      #expect(order.entries == Array(0..<20))
      #expect(other.sendIfReady(1) == .full(1))
    }
  }

  @Test func `a value for a select that has lost goes to the next in line`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let selecting = launch {
        try select {
          Receive(from: one) { $0 }
          Receive(from: other) { $0 }
        }
      }
      let receiver = launch { try one.receive() }
      try letOthersRun()
      // The select is decided but has not run since: its clause on `one` still stands in line.
      try other.send(1)
      try one.send(2)
      try #expect(selecting.value() == 1)
      try #expect(receiver.value() == 2)
    }
  }
}
