#!lua name=kangtou_talk
-- Chat of one match ({m:<match>}:talk, :muted), and reports of chat ({kt:reports}:list, :keys).

-- keys: stream. args: account, command, most, keep_ms, then fields. Returns {id, 1}, or {id of the first, 0}.
local function say(keys, args)
  local rows = redis.call('XREVRANGE', keys[1], '+', '-')
  for _, row in ipairs(rows) do
    local held = {}
    for place = 1, #row[2], 2 do held[row[2][place]] = row[2][place + 1] end
    if held['a'] == args[1] and held['c'] == args[2] then return {row[1], 0} end
  end
  local id = redis.call('XADD', keys[1], 'MAXLEN', args[3], '*', 'a', args[1], 'c', args[2], unpack(args, 5))
  redis.call('PEXPIRE', keys[1], args[4])
  return {id, 1}
end

-- keys: set. args: account, muted (0 or 1), keep_ms.
local function mute(keys, args)
  redis.call(args[2] == '1' and 'SADD' or 'SREM', keys[1], args[1])
  redis.call('PEXPIRE', keys[1], args[3])
  return 1
end

-- keys: stream, set of what was reported. args: key of the report, its text, most. Returns 1 if it is new.
local function report(keys, args)
  if redis.call('ZADD', keys[2], 'NX', redis.call('XLEN', keys[1]), args[1]) == 0 then return 0 end
  redis.call('XADD', keys[1], 'MAXLEN', args[3], '*', 'r', args[2])
  redis.call('PEXPIRE', keys[2], 86400000)
  return 1
end

redis.register_function('kt_say_1', say)
redis.register_function('kt_mute_1', mute)
redis.register_function('kt_report_1', report)
