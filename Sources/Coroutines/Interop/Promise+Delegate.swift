// SPDX-License-Identifier: Apache-2.0

extension Promise {
  /// A promise that a delegate settles.
  ///
  /// Interfaces hold their delegates weakly, so somebody must keep this one: the promise does, until it is
  /// settled.
  ///
  /// ```swift
  /// final class Answer: NSObject, PickerDelegate {
  ///   let done: CallbackResolver<Picture>
  ///   init(_ done: CallbackResolver<Picture>) { self.done = done }
  ///   func picker(_ picker: Picker, didPick picture: Picture) { done(picture) }
  ///   func pickerDidFail(_ picker: Picker, with error: any Error) { done(throwing: error) }
  /// }
  ///
  /// let picture = try Promise.delegated(by: Answer.init) { answer in
  ///   picker.delegate = answer
  ///   picker.show()
  /// }.await()
  /// ```
  ///
  /// Never parks. Because the promise keeps the delegate, it cannot notice that nobody will call it.
  ///
  /// - Parameters:
  ///   - makeDelegate: Makes the delegate; gets what that settles the promise with.
  ///   - onCancel: Stops what was begun, if the promise is cancelled; called on whatever thread does that.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - start: Hands the delegate over and begins. What it throws rejects the promise.
  /// - Returns: The promise.
  public static func delegated<Delegate: AnyObject>(
    by makeDelegate: (CallbackResolver<Value>) -> Delegate,
    onCancel: ((Delegate) -> Void)? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    start: (Delegate) throws -> Void
  ) -> Promise {
    let promise = Promise(file: file, line: line)
    let delegate = makeDelegate(CallbackResolver(promise))
    // A ring, promise to observer to delegate to resolver to promise, that settling breaks.
    promise.addObserver(startsWork: false) { _, _ in withExtendedLifetime(delegate) {} }
    if let onCancel { promise.addCancelHook { onCancel(delegate) } }
    do {
      try start(delegate)
    } catch {
      promise.reject(error)
    }
    return promise
  }
}
