// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc
import Testing

@testable import tour

@Suite struct TreeWalkTests {
  private func names(_ tree: MadeTree, all: Bool = false) -> [String] {
    TreeWalk(root: tree.root, includesHidden: all).findings(.direct).map { name($0, tree) }
  }

  private func name(_ finding: Finding, _ tree: MadeTree) -> String {
    func relative(_ path: BytePath) -> String { path.relative(to: tree.root).description }
    return switch finding {
    case .file(let path, _): relative(path)
    case .directory(let path): path == tree.root ? "/" : relative(path) + "/"
    case .hidden(let path): "hidden " + relative(path)
    case .mount(let path): "mount " + relative(path)
    case .link(let path): "link " + relative(path)
    case .special(let path): "special " + relative(path)
    case .problem(let problem): "\(problem.kind.words) " + relative(problem.path)
    }
  }

  @Test func `a walk goes depth first in the order of names`() throws {
    let tree = try MadeTree()
    try tree.file("b")
    try tree.directory("a")
    try tree.file("a/z")
    try tree.directory("a/d")
    try tree.file("a/d/e")
    #expect(names(tree) == ["/", "a/", "a/d/", "a/d/e", "a/z", "b"])
  }

  @Test func `hidden directories are left out and hidden files are not`() throws {
    let tree = try MadeTree()
    try tree.directory(".d")
    try tree.file(".d/x")
    try tree.file(".f")
    #expect(names(tree) == ["/", "hidden .d", ".f"])
    #expect(names(tree, all: true) == ["/", ".d/", ".d/x", ".f"])
  }

  @Test func `links are told apart and none is followed`() throws {
    let tree = try MadeTree()
    try tree.directory("d")
    try tree.file("f")
    try tree.link("d/up", to: "..")
    try tree.link("d/self", to: ".")
    try tree.link("broken", to: "nowhere")
    try tree.link("loop", to: "loop")
    try tree.link("toDirectory", to: "d")
    try tree.link("toFile", to: "f")
    #expect(
      names(tree) == [
        "/", "broken link broken", "d/", "link cycle d/self", "link cycle d/up", "f",
        "link cycle loop", "link toDirectory", "link toFile",
      ]
    )
  }

  @Test func `pipes are special`() throws {
    let tree = try MadeTree()
    try tree.pipe("p")
    #expect(names(tree) == ["/", "special p"])
  }

  @Test func `a directory that vanishes during the walk is reported`() throws {
    let tree = try MadeTree()
    try tree.directory("a")
    try tree.directory("b")
    // The walk does not run ahead: b is read when it is asked for (rule 10).
    let walk = TreeWalk(root: tree.root).findings(.direct)
    _ = walk.next()
    #expect(walk.next().map { name($0, tree) } == "a/")
    tree.remove("b")
    #expect(walk.next().map { name($0, tree) } == "vanished b")
    #expect(walk.next() == nil)
  }

  @Test func `positions rise from 0 to 1`() throws {
    let tree = try MadeTree()
    for name in ["a", "b", "c"] {
      try tree.directory(name)
      for file in ["1", "2"] { try tree.file("\(name)/\(file)") }
    }
    let positions = TreeWalk(root: tree.root).findings(.direct).compactMap { finding in
      if case .file(_, let position) = finding { position } else { nil }
    }
    #expect(positions == positions.sorted())
    #expect(positions.count == 6)
    #expect(abs((positions.last ?? 0) - 1) < 1e-9)
  }

  @Test func `a thousand levels are no problem, walked from a coroutine or not`() throws {
    let tree = try MadeTree()
    var path = "d"
    try tree.directory(path)
    for _ in 1..<1000 {
      path += "/d"
      try tree.directory(path)
    }
    try tree.file(path + "/f")
    #expect(names(tree).count == 1002)
    let count = try runBlocking {
      TreeWalk(root: tree.root).findings(.offloaded).reduce(0) { count, _ in count + 1 }
    }
    #expect(count == 1002)
  }
}
