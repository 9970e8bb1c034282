// SPDX-License-Identifier: Apache-2.0

/// What the server does in one step, which nothing of others comes between, and which is in its append-only file as a
/// whole or not at all.
package struct RedisScript: Sendable {
  /// For the connection's list of digests.
  let name: String
  /// In Lua.
  package let text: String

  /// Adds a value, unless it is there already, the channel is closed, or it is full.
  ///
  /// Keys: stream, closed flag, last send of the lane. Arguments: number of the send, milliseconds to remember it,
  /// most values (0: no limit), values to keep when trimming by number (0: not so), value.
  ///
  /// The first look comes before the others: what has been added counts as sent, even if the channel has been closed
  /// since.
  package static let send = RedisScript(
    name: "send",
    text: """
      if redis.call('GET', KEYS[3]) == ARGV[1] then return 'sent' end
      if redis.call('EXISTS', KEYS[2]) == 1 then return 'closed' end
      local capacity = tonumber(ARGV[3])
      if capacity > 0 and redis.call('XLEN', KEYS[1]) >= capacity then return 'full' end
      if ARGV[4] == '0' then
        redis.call('XADD', KEYS[1], '*', 'v', ARGV[5])
      else
        redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[4], '*', 'v', ARGV[5])
      end
      redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
      return 'sent'
      """
  )

  /// Acknowledges deliveries, and deletes the values if they are for one group only.
  ///
  /// Keys: stream. Arguments: group, 1 to delete, ids. Returns how many were not acknowledged before.
  static let acknowledge = RedisScript(
    name: "acknowledge",
    text: """
      local count = redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 3))
      if ARGV[2] == '1' then redis.call('XDEL', KEYS[1], unpack(ARGV, 3)) end
      return count
      """
  )

  /// Takes over deliveries that nobody has acknowledged in time; puts aside those that came too often; forgets
  /// consumers that have been gone for an hour and owe nothing.
  ///
  /// Keys: stream, dead letters. Arguments: group, consumer, milliseconds, most to take, most deliveries (0: no
  /// limit), 1 to delete. Returns id, number of the delivery and value of each.
  static let claim = RedisScript(
    name: "claim",
    text: """
      if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('NOGROUP there is no stream') end
      for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
        if one[2] ~= ARGV[2] and one[4] == 0 and one[6] > 3600000 then
          redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], one[2])
        end
      end
      local most, limit, cursor, taken = tonumber(ARGV[4]), tonumber(ARGV[5]), '0-0', {}
      repeat
        local found = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], cursor, 'COUNT', most - #taken)
        cursor = found[1]
        for _, entry in ipairs(found[2]) do
          if entry then
            local id, value = entry[1], entry[2][2]
            local deliveries = redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1)[1][4]
            if limit > 0 and deliveries > limit then
              redis.call('XADD', KEYS[2], '*', 'id', id, 'deliveries', deliveries - 1, 'reason',
                'not acknowledged', 'v', value)
              redis.call('XACK', KEYS[1], ARGV[1], id)
              if ARGV[6] == '1' then redis.call('XDEL', KEYS[1], id) end
            else
              taken[#taken + 1] = {id, deliveries, value}
            end
          end
        end
      until cursor == '0-0' or #taken >= most
      return taken
      """
  )

  /// Puts a delivery aside that cannot be understood.
  ///
  /// Keys: stream, dead letters. Arguments: group, 1 to delete, id, number of the delivery, reason, value.
  static let putAside = RedisScript(
    name: "put aside",
    text: """
      if redis.call('XACK', KEYS[1], ARGV[1], ARGV[3]) == 0 then return 0 end
      redis.call('XADD', KEYS[2], '*', 'id', ARGV[3], 'deliveries', ARGV[4], 'reason', ARGV[5], 'v', ARGV[6])
      if ARGV[2] == '1' then redis.call('XDEL', KEYS[1], ARGV[3]) end
      return 1
      """
  )

  /// Sets for how long a delivery has been out, if the consumer still has it.
  ///
  /// Keys: stream. Arguments: group, consumer, id, milliseconds, deliveries to be counted (-1: as many as there
  /// are). Returns 1 if it has it.
  static let setIdle = RedisScript(
    name: "set idle",
    text: """
      if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2]) == 0 then return 0 end
      if ARGV[5] == '-1' then
        redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'IDLE', ARGV[4], 'JUSTID')
      else
        redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'IDLE', ARGV[4], 'RETRYCOUNT', ARGV[5],
          'JUSTID')
      end
      return 1
      """
  )

  /// Whether the channel is open (0), closed with values left to be received or acknowledged (1), or done (2).
  ///
  /// Keys: stream, closed flag. Arguments: group.
  static let state = RedisScript(
    name: "state",
    text: """
      if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
      if redis.call('XLEN', KEYS[1]) == 0 then return 2 end
      for _, one in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
        if one[2] == ARGV[1] then
          if one[6] > 0 then return 1 end
          if #redis.call('XRANGE', KEYS[1], '(' .. one[8], '+', 'COUNT', 1) > 0 then return 1 end
          return 2
        end
      end
      return 1
      """
  )

  /// Answers a question, and acknowledges it.
  ///
  /// Keys: stream, answers. Arguments: group, id, milliseconds to keep the answer, kind, answer.
  static let answer = RedisScript(
    name: "answer",
    text: """
      redis.call('XADD', KEYS[2], '*', ARGV[4], ARGV[5])
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
      redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
      redis.call('XDEL', KEYS[1], ARGV[2])
      return 1
      """
  )
}
