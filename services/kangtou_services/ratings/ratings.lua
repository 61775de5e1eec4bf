#!lua name=kangtou_ratings
-- Results and ratings: steps on the keys of one slot ({ratings}:…). Named with versions, so that processes of two
-- releases can share a server.

-- keys: log, matches. args: match, text. Returns its position in the log (also when it was there).
local function append(keys, args)
  local held = redis.call('HGET', keys[2], args[1])
  if held then return tonumber(held) end
  local position = redis.call('HLEN', keys[2]) + 1
  redis.call('XADD', keys[1], position .. '-0', 'b', args[2])
  redis.call('HSET', keys[2], args[1], position)
  return position
end

-- keys: mark, ladders, then ratings and board of each ladder; in the second version the deleted accounts (or nil) apart.
-- args: the mark expected, the new one, how many ladders, their names, then of each standing: number of its ladder
-- (from 1), account, text, floor ('' if no board shows it). Returns 1, or 0 if the mark is another.
local function apply_to(mark, ladders, gone, tables, args)
  if (redis.call('GET', mark) or '0 0') ~= args[1] then return 0 end
  redis.call('SET', mark, args[2])
  local count = tonumber(args[3])
  for i = 1, count do redis.call('SADD', ladders, args[3 + i]) end
  for i = 4 + count, #args, 4 do
    local ladder = tonumber(args[i])
    redis.call('HSET', tables[2 * ladder - 1], args[i + 1], args[i + 2])
    local shown = args[i + 3] ~= '' and (not gone or redis.call('SISMEMBER', gone, args[i + 1]) == 0)
    if shown then redis.call('ZADD', tables[2 * ladder], args[i + 3], args[i + 1]) end
  end
  return 1
end

local function apply_1(keys, args) return apply_to(keys[1], keys[2], nil, {unpack(keys, 3)}, args) end
local function apply_2(keys, args) return apply_to(keys[1], keys[2], keys[3], {unpack(keys, 4)}, args) end

-- keys: ladders, deleted accounts, then the boards of all ladders. args: how many ladders that is, an account. Returns
-- 1, or 0 if there are others now.
local function forget(keys, args)
  if redis.call('SCARD', keys[1]) ~= tonumber(args[1]) then return 0 end
  redis.call('SADD', keys[2], args[2])
  for i = 3, #keys do redis.call('ZREM', keys[i], args[2]) end
  return 1
end

-- keys: mark, ladders, then ratings and boards of all ladders. args: how many ladders that is. Returns 1, or 0 if there
-- are others now.
local function restart(keys, args)
  if redis.call('SCARD', keys[2]) ~= tonumber(args[1]) then return 0 end
  local life = tonumber(string.match(redis.call('GET', keys[1]) or '0 0', '^(%d+) '))
  redis.call('UNLINK', unpack(keys, 2))
  redis.call('SET', keys[1], (life + 1) .. ' 0')
  return 1
end

redis.register_function('kt_rating_append_1', append)
redis.register_function('kt_rating_apply_1', apply_1)
redis.register_function('kt_rating_apply_2', apply_2)
redis.register_function('kt_rating_forget_1', forget)
redis.register_function('kt_rating_restart_1', restart)
