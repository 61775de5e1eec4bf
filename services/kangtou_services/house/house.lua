#!lua name=kangtou_house
-- What house bots are needed for: one slot ({house}:…), for there is little of it and claims go across all. Named with
-- versions, so that processes of two releases can share a server. All get the same keys:
--   1 needs     hash: need -> `group until only match seat number|text`; `-` and -1 for what
--               there is not; match and seat: to which it binds an account
--   2 groups    hash: group -> number and ids of its needs
--   3 touched   sorted set: groups, by when they were last put
--   4 open      sorted set: needs of anybody that nobody has claimed, by order of coming
--   5 claims    hash: need -> worker (account/process)
--   6 leases    sorted set: claimed needs, by until when
--   7 ends      sorted set: needs that end by themselves, by when
--   8 declined  hash: need/account -> need
--   9 bound     hash: match/account -> seat
--  10 binding   sorted set: the same, by when
--  11 order     counter
-- Beside them, in the same slot: {house}:for:<account>, as `open`, of needs for one account; {house}:held:<worker>, a set.
local NEEDS, GROUPS, TOUCHED, OPEN, CLAIMS, LEASES, ENDS, DECLINED, BOUND, BINDING, ORDER = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local PRUNED_MOST = 200

local function need_of(keys, id)
  local held = redis.call('HGET', keys[NEEDS], id)
  if not held then return nil end
  local group, only, match, seat, number, text = string.match(held, '^(%S+) %d+ (%S+) (%S+) (-?%d+) (-?%d+)|(.*)$')
  return {group = group, only = only, match = match, seat = seat, number = number, text = text}
end

local function account_of(worker) return string.match(worker, '^([^/]*)/') end
local function held_key(worker) return '{house}:held:' .. worker end

local function list_of(keys, need)
  return need.only == '-' and keys[OPEN] or '{house}:for:' .. need.only
end

local function open(keys, id, need)
  local order = redis.call('INCR', keys[ORDER])
  redis.call('ZADD', list_of(keys, need), order, id)
  redis.call('PEXPIRE', list_of(keys, need), 7 * 24 * 3600 * 1000)
end

local function unclaim(keys, id)
  local worker = redis.call('HGET', keys[CLAIMS], id)
  if worker then redis.call('SREM', held_key(worker), id) end
  redis.call('HDEL', keys[CLAIMS], id)
  redis.call('ZREM', keys[LEASES], id)
end

local function drop(keys, id)
  local need = need_of(keys, id)
  if need then redis.call('ZREM', list_of(keys, need), id) end
  unclaim(keys, id)
  redis.call('HDEL', keys[NEEDS], id)
  redis.call('ZREM', keys[ENDS], id)
end

local function group_of(keys, group)
  local held, found = redis.call('HGET', keys[GROUPS], group), {number = -1, ids = {}}
  if not held then return found end
  found.number = tonumber(string.match(held, '^(-?%d+)'))
  for id in string.gmatch(held, ' (%S+)') do table.insert(found.ids, id) end
  return found
end

local function put_group(keys, group, it, now)
  local text = string.format('%.0f', it.number)
  if #it.ids > 0 then text = text .. ' ' .. table.concat(it.ids, ' ') end
  redis.call('HSET', keys[GROUPS], group, text)
  redis.call('ZADD', keys[TOUCHED], now, group)
end

-- Leases that have run out, needs that are over, and what is remembered for long enough.
local function tidy(keys, now, keep)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys[ENDS], '-inf', now)) do drop(keys, id) end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys[LEASES], '-inf', now)) do
    unclaim(keys, id)
    local need = need_of(keys, id)
    if need then open(keys, id, need) end
  end
  local before = '(' .. string.format('%.0f', tonumber(now) - tonumber(keep))
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', keys[BINDING], '-inf', before, 'LIMIT', 0, PRUNED_MOST)) do
    redis.call('HDEL', keys[BOUND], key)
    redis.call('ZREM', keys[BINDING], key)
  end
  for _, group in ipairs(redis.call('ZRANGEBYSCORE', keys[TOUCHED], '-inf', before, 'LIMIT', 0, PRUNED_MOST)) do
    for _, id in ipairs(group_of(keys, group).ids) do drop(keys, id) end
    redis.call('HDEL', keys[GROUPS], group)
    redis.call('ZREM', keys[TOUCHED], group)
  end
end

-- args: group, number, now, then of each need: id, until, only (or -), match and seat it binds to (or - -1), number, text.
-- Returns 0 if a greater number was put before.
local function put(keys, args)
  local it = group_of(keys, args[1])
  if tonumber(args[2]) < it.number then return 0 end
  local ids, stays = {}, {}
  for i = 4, #args, 7 do
    table.insert(ids, args[i])
    stays[args[i]] = true
  end
  for _, id in ipairs(it.ids) do
    if not stays[id] then drop(keys, id) end
  end
  for i = 4, #args, 7 do
    local id = args[i]
    local new = redis.call('HEXISTS', keys[NEEDS], id) == 0
    local head = table.concat({args[1], args[i + 1], args[i + 2], args[i + 3], args[i + 4], args[i + 5]}, ' ')
    redis.call('HSET', keys[NEEDS], id, head .. '|' .. args[i + 6])
    if new then open(keys, id, {only = args[i + 2]}) end
    if args[i + 1] == '0' then redis.call('ZREM', keys[ENDS], id) else redis.call('ZADD', keys[ENDS], args[i + 1], id) end
  end
  it.number, it.ids = tonumber(args[2]), ids
  put_group(keys, args[1], it, args[3])
  return 1
end

-- args: group, now.
local function finish(keys, args)
  local it = group_of(keys, args[1])
  if #it.ids == 0 then return 0 end
  for _, id in ipairs(it.ids) do drop(keys, id) end
  it.ids, it.number = {}, it.number + 1
  put_group(keys, args[1], it, args[2])
  return 1
end

-- args: now, until when leases are renewed, how long is remembered, most that is open, then workers. Returns texts of
-- what is open, then for each worker a list of the texts of what it holds.
local function look(keys, args)
  tidy(keys, args[1], args[3])
  local found, seen = {{}}, {}
  local function add(list, ids)
    for _, id in ipairs(ids) do
      local need = need_of(keys, id)
      if need then table.insert(list, need.text) end
    end
  end
  for i = 5, #args do
    local account, held = account_of(args[i]), {}
    if not seen[account] then
      seen[account] = true
      add(found[1], redis.call('ZRANGE', '{house}:for:' .. account, 0, tonumber(args[4]) - 1))
    end
    for _, id in ipairs(redis.call('SMEMBERS', held_key(args[i]))) do
      redis.call('ZADD', keys[LEASES], args[2], id)
      local need = need_of(keys, id)
      if need then table.insert(held, need.text) end
    end
    table.insert(found, held)
  end
  add(found[1], redis.call('ZRANGE', keys[OPEN], 0, tonumber(args[4]) - 1))
  return found
end

-- args: need, worker, now, until, how long is remembered.
local function claim(keys, args)
  tidy(keys, args[3], args[5])
  local id, worker, need = args[1], args[2], need_of(keys, args[1])
  local account = account_of(worker)
  if not need or (need.only ~= '-' and need.only ~= account) then return 0 end
  if redis.call('HEXISTS', keys[DECLINED], id .. '/' .. account) == 1 then return 0 end
  local holder = redis.call('HGET', keys[CLAIMS], id)
  if holder then return holder == worker and 1 or 0 end
  if need.match ~= '-' then
    local key = need.match .. '/' .. account
    local seat = redis.call('HGET', keys[BOUND], key)
    if seat and seat ~= need.seat then return 0 end
    redis.call('HSET', keys[BOUND], key, need.seat)
    redis.call('ZADD', keys[BINDING], args[3], key)
  end
  redis.call('ZREM', list_of(keys, need), id)
  redis.call('HSET', keys[CLAIMS], id, worker)
  redis.call('ZADD', keys[LEASES], args[4], id)
  redis.call('SADD', held_key(worker), id)
  return 1
end

-- args: need, worker, outcome, now, how long is remembered, number.
local function settle(keys, args)
  local id, worker = args[1], args[2]
  if redis.call('HGET', keys[CLAIMS], id) ~= worker then return 0 end
  local need = need_of(keys, id)
  if args[3] == 'done' and need.number == args[6] then
    local it, left = group_of(keys, need.group), {}
    for _, one in ipairs(it.ids) do
      if one ~= id then table.insert(left, one) end
    end
    it.ids = left
    put_group(keys, need.group, it, args[4])
    drop(keys, id)
    return 1
  end
  unclaim(keys, id)
  open(keys, id, need)
  if args[3] == 'declined' then
    redis.call('HSET', keys[DECLINED], id .. '/' .. account_of(worker), 1)
    redis.call('PEXPIRE', keys[DECLINED], args[5])
  end
  return 1
end

-- args: worker, until.
local function linger(keys, args)
  local count = 0
  for _, id in ipairs(redis.call('SMEMBERS', held_key(args[1]))) do
    if tonumber(redis.call('ZSCORE', keys[LEASES], id) or 0) > tonumber(args[2]) then
      redis.call('ZADD', keys[LEASES], args[2], id)
    end
    count = count + 1
  end
  return count
end

redis.register_function('kt_house_put_1', put)
redis.register_function('kt_house_end_1', finish)
redis.register_function('kt_house_look_1', look)
redis.register_function('kt_house_claim_1', claim)
redis.register_function('kt_house_settle_1', settle)
redis.register_function('kt_house_linger_1', linger)
