#!lua name=kangtou_tournament
-- Tournaments: steps on the keys of one tournament's slot ({t:…}), and the runner's lease ({runner}). Named with
-- versions, so that processes of two releases can share a server.

-- keys: log, seed, state. args: seed, first event. Returns 1, or 0 if it is there.
local function create(keys, args)
  if redis.call('EXISTS', keys[2]) == 1 then return 0 end
  redis.call('SET', keys[2], args[1])
  redis.call('XADD', keys[1], '1-0', 'b', args[2])
  return 1
end

-- keys: log, state, held. args: fence, length, count of events, events, count of holds, holds, releases.
-- Returns 1; 0 if the fence is an older one's; -1 if the log has another length (a repeat of the same events is 1).
local function append(keys, args)
  local fence = tonumber(args[1])
  if tonumber(redis.call('HGET', keys[2], 'fence') or '0') > fence then return 0 end
  local length, count = tonumber(args[2]), tonumber(args[3])
  local held = redis.call('XLEN', keys[1])
  if held ~= length then
    local rows = redis.call('XRANGE', keys[1], (length + 1) .. '-0', '+')
    if #rows ~= count then return -1 end
    for i = 1, count do if rows[i][2][2] ~= args[3 + i] then return -1 end end
    return 1
  end
  redis.call('HSET', keys[2], 'fence', fence)
  for i = 1, count do redis.call('XADD', keys[1], (length + i) .. '-0', 'b', args[3 + i]) end
  local at = 4 + count
  local holds = tonumber(args[at])
  for i = at + 1, at + holds do redis.call('SADD', keys[3], args[i]) end
  for i = at + holds + 1, #args do redis.call('SREM', keys[3], args[i]) end
  return 1
end

-- keys: lease, number. args: owner, ms. Returns the fencing number, 0 if another is the runner.
local function lease(keys, args)
  local holder = redis.call('GET', keys[1])
  if holder and holder ~= args[1] then return 0 end
  if not holder then redis.call('INCR', keys[2]) end
  redis.call('SET', keys[1], args[1], 'PX', args[2])
  return tonumber(redis.call('GET', keys[2]))
end

-- keys: lease. args: owner.
local function leave(keys, args)
  if redis.call('GET', keys[1]) == args[1] then redis.call('DEL', keys[1]) end
  return 1
end

redis.register_function('kt_tournament_create_1', create)
redis.register_function('kt_tournament_append_1', append)
redis.register_function('kt_runner_lease_1', lease)
redis.register_function('kt_runner_leave_1', leave)
